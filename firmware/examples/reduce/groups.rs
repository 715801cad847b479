//! Boards add up in groups: those of their cluster of three, and those that have the same place in theirs.

use hopwise_app::{AppPort, Mesh};
use hopwise_team::{Group, Team, TeamError};

/// Boards of a cluster, and clusters.
pub(crate) const CLUSTER: u64 = 3;
const CLUSTERS: &str = "complete(6)";

/// The sum of addresses in the cluster, and among those with the same place.
pub(crate) async fn run(mesh: Mesh<'_>, port: AppPort, tag: u32) -> Result<[u32; 2], TeamError> {
    let (cluster, place) = (mesh.address() / CLUSTER, mesh.address() % CLUSTER);
    let groups = [(cluster * CLUSTER, 1, "ring(3)"), (place, CLUSTER, CLUSTERS)];
    let mut sums = [0; 2];
    // A port for each: who is in the second already does not write to who is still in the first.
    for (index, (first, step, network)) in (0..).zip(groups) {
        let network = network.parse().map_err(|_| TeamError::NotAMember)?;
        let team = Team::of_group(mesh, AppPort(port.0 + index), Group { first, step, network })
            .map_err(|_| TeamError::Closed)?;
        sums[usize::from(index)] = team.all_reduce(tag, mesh.address() as u32, |a, b| a + b).await?;
    }
    Ok(sums)
}

use std::path::PathBuf;

use clap::Args;

use super::error::CliError;
use super::output::{print_line, progress_bar};
use hopwise_files::write_whole;
use hopwise_networks::lifts::Catalogue;
use hopwise_networks::lifts::anneal::{Effort, MAX_NODES};
use hopwise_networks::lifts::bound::Bound;

#[derive(Args)]
pub(super) struct LiftsArgs {
    /// The catalogue to continue with; it is created if there is none, and written after every size
    #[arg(value_name = "FILE")]
    catalogue: PathBuf,
    /// The smallest number of nodes
    #[arg(long, value_name = "NODES", default_value_t = 8, value_parser = clap::value_parser!(u64).range(4..=MAX_NODES))]
    from: u64,
    /// The largest number of nodes
    #[arg(long, value_name = "NODES", default_value_t = 256, value_parser = clap::value_parser!(u64).range(4..=MAX_NODES))]
    to: u64,
    /// The numbers of ports
    #[arg(long, value_name = "PORTS", value_delimiter = ',', default_values_t = [3, 4, 5])]
    ports: Vec<u64>,
    /// Search only where the best lift is this many percent above the bound, or more
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    above: f64,
    /// Steps for each size and number of ports
    #[arg(long, default_value_t = 100_000)]
    steps: u64,
    /// The same seed and the same catalogue find the same
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub(super) fn run(args: &LiftsArgs) -> Result<(), CliError> {
    let mut catalogue = match hopwise_files::read_text(&args.catalogue, hopwise_files::MAX_TEXT) {
        Ok(text) => Catalogue::read(&text).map_err(|error| CliError::file(&args.catalogue, error))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Catalogue::default(),
        Err(error) => return Err(CliError::file(&args.catalogue, error)),
    };
    let excess = |catalogue: &Catalogue, nodes: u64, ports: u64| {
        let entry = catalogue.get(nodes, ports)?;
        let mean = entry.distance_sum as f64 / (nodes * (nodes - 1)) as f64;
        Some(100.0 * Bound::new(nodes, ports).excess(mean))
    };
    let sizes: Vec<(u64, u64)> = (args.from..=args.to)
        .flat_map(|nodes| args.ports.iter().map(move |&ports| (nodes, ports)))
        .filter(|&(nodes, ports)| excess(&catalogue, nodes, ports).is_none_or(|excess| excess > args.above))
        .collect();
    let bar = progress_bar(sizes.len() as u64, "searching");
    let mut better = 0;
    let effort = Effort {
        steps: args.steps,
        seed: args.seed,
    };
    for (nodes, ports) in sizes {
        better += u32::from(catalogue.improve(nodes, ports, effort));
        write_whole(&args.catalogue, catalogue.write()).map_err(|error| CliError::file(&args.catalogue, error))?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let all: Vec<f64> = catalogue
        .iter()
        .filter_map(|(nodes, ports, _)| excess(&catalogue, nodes, ports))
        .collect();
    let mean = all.iter().sum::<f64>() / all.len().max(1) as f64;
    let most = all.iter().copied().fold(0.0, f64::max);
    let within = |percent: f64| all.iter().filter(|&&excess| excess <= percent).count();
    let (lifts, two, three) = (all.len(), within(2.0), within(3.0));
    print_line(format_args!(
        "{better} better; {lifts} lifts, {mean:.2}% above the bound on average, {most:.1}% at most; {two} within 2%, {three} within 3%"
    ))
}

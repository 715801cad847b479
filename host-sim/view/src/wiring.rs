//! What the page is told of a mesh file: pins, cables and pictures of boards.

use hopwise_rig::boards::Pin;
use hopwise_rig::headers;
use hopwise_rig::mesh::{Mesh, NodePort};
use hopwise_rig::plan::{Cable, WiringPlan};

use super::data::{NoPage, PageData};

impl PageData {
    /// Of a mesh file: the network, and where its cables are plugged in.
    pub fn of_mesh(mesh: &Mesh) -> Result<PageData, NoPage> {
        PageData::new(&mesh.network)?.with_wiring(mesh)
    }

    /// The same with the pins of a mesh of this network.
    pub fn with_wiring(mut self, mesh: &Mesh) -> Result<PageData, NoPage> {
        if self.drawn.network != mesh.network.to_string() {
            return Err(NoPage::OtherMesh {
                network: self.drawn.network,
                mesh: mesh.network.to_string(),
            });
        }
        let end = |node, port| {
            let uart = mesh.uart(NodePort { node, port });
            let pin = |pin: &Pin| format!("{} {}", pin.name, pin.header);
            [uart.name.to_string(), pin(&uart.tx), pin(&uart.rx)]
        };
        let ends = |node| (0..mesh.degree(node)).map(|port| end(node, port)).collect();
        self.wiring = Some(mesh.nodes().map(ends).collect());
        let cable = |cable: &Cable| [cable.from.node, cable.from.port, cable.to.node, cable.to.port];
        self.cables = WiringPlan::new(mesh).cables.iter().map(cable).collect();
        let kinds = mesh.kinds();
        let kind_of = |node| kinds.iter().position(|kind| *kind == mesh.kind_of(node)).unwrap_or(0);
        self.board_of = mesh.nodes().map(kind_of).collect();
        self.boards = kinds.iter().map(|kind| headers::svg(kind)).collect();
        Ok(self)
    }
}

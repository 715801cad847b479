//! The events of a script on simulated boards and cables.

use hopwise_core::Network;
use hopwise_language::script::{Action, NoSuchPlace, PortName, PortOf, Stage, check_port};

use super::world::WireEnd;

/// The boards of a network, each port of which is the end of a cable.
pub(super) struct Mesh(pub(super) Network);

impl Stage for Mesh {
    type Port = WireEnd;

    const NAME: &'static str = "in a simulation";

    /// Simulated boards have neither buttons nor free ports.
    fn can<P>(action: &Action<P>) -> bool {
        !matches!(
            action,
            Action::PlugInto(..) | Action::Brownout(..) | Action::Press(_) | Action::Release(_)
        )
    }

    fn network(&self) -> &Network {
        &self.0
    }

    fn port(&self, name: PortName) -> Result<WireEnd, NoSuchPlace> {
        match name.port {
            PortOf::Number(port) => {
                let (board, port) = check_port(&self.0, name.node, port)?;
                Ok((board as u32, port as u8))
            }
            PortOf::Uart(_) => Err(NoSuchPlace::unnamed(name)),
        }
    }
}

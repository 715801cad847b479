//! Scripts on emulated boards: from the words of [`hopwise_language`] to what happens to their wires and buttons.

use hopwise_core::Network;
use hopwise_emulator::boards::{BOARDS, BoardKind};
use hopwise_emulator::chip::UART_NAMES;
use hopwise_emulator::time::Time;
use hopwise_emulator::world::{self, Port};
use hopwise_language::Script;
use hopwise_language::script::{Action, NoSuchPlace, PortName, PortOf, ScriptError, Stage, check_board, check_port};
use hopwise_rig::mesh::{Mesh, NodePort};

use crate::rig;

struct EmulatedBoards<'a, F> {
    network: &'a Network,
    place: F,
}

impl<F: Fn(&PortName) -> Result<Port, NoSuchPlace>> Stage for EmulatedBoards<'_, F> {
    type Port = Port;

    const NAME: &'static str = "to emulated boards";

    /// A break needs to know the speed of the wire.
    fn can<P>(action: &Action<P>) -> bool {
        !matches!(action, Action::Break(..))
    }

    fn network(&self) -> &Network {
        self.network
    }

    fn port(&self, name: PortName) -> Result<Port, NoSuchPlace> {
        match name.port {
            PortOf::Number(port) => check_port(self.network, name.node, port).map(|_| ())?,
            PortOf::Uart(_) => check_board(self.network, name.node).map(|_| ())?,
        }
        (self.place)(&name)
    }
}

/// Reads a script for the boards of a network. `place` says which serial port a port is, as [`default_port`] does.
pub fn read(
    text: &str,
    network: &Network,
    place: impl Fn(&PortName) -> Result<Port, NoSuchPlace>,
) -> Result<world::Script, ScriptError> {
    let script = Script::parse(text)?.resolve(&EmulatedBoards { network, place })?;
    let events = script.events().iter();
    let events = events.flat_map(|event| {
        let (at, action) = (event.at.picos(), action(event.action));
        let stop = match action {
            Some(world::Action::Brownout(board, within)) => Some((at + stops_after(within), world::Action::Off(board))),
            _ => None,
        };
        action.map(|action| (at, action)).into_iter().chain(stop)
    });
    Ok(world::Script::new(events.collect()))
}

/// When a chip stops whose supply falls from 3.3 V to nothing within a time: at 1.7 V.
pub fn stops_after(within: Time) -> Time {
    within / 33 * 16
}

/// The serial port of a port of a default board.
pub fn default_port(name: &PortName) -> Result<Port, NoSuchPlace> {
    port_on(BOARDS[0], name)
}

/// The serial port of a port of a mesh, or of a link that its cables leave free.
pub fn port_in(mesh: &Mesh, name: &PortName) -> Result<Port, NoSuchPlace> {
    let port = match &name.port {
        PortOf::Number(port) => Some(*port),
        PortOf::Uart(uart) => {
            let link = mesh.kind_of(name.node).link_of(uart);
            link.and_then(|link| mesh.port_at(name.node, link)).map(|end| end.port)
        }
    };
    let Some(port) = port else {
        return default_port(name);
    };
    let port = NodePort { node: name.node, port };
    rig::port(mesh, port).map_err(|error| NoSuchPlace(error.to_string()))
}

/// The serial port of a port of a board.
pub fn port_on(kind: &BoardKind, name: &PortName) -> Result<Port, NoSuchPlace> {
    let uart = match &name.port {
        PortOf::Number(port) => {
            let link = usize::try_from(*port).ok().and_then(|port| kind.links().get(port));
            link.map(|link| link.uart)
        }
        PortOf::Uart(uart) => UART_NAMES.iter().position(|known| known == uart),
    };
    let example = UART_NAMES[0];
    let none = || NoSuchPlace(format!("'{name}' is not a port such as 3.0 or 3.{example}"));
    let uart = uart.ok_or_else(none)?;
    Ok(Port::new(name.node as usize, uart))
}

/// The same as the emulator knows it; `None` for what is refused.
fn action(action: Action<Port>) -> Option<world::Action> {
    Some(match action {
        Action::Cut(port) => world::Action::Cut(port),
        Action::Plug(port) => world::Action::Plug(port),
        Action::PlugInto(port, to) => world::Action::PlugInto(port, to),
        Action::OneWay(port) => world::Action::OneWay(port),
        Action::BothWays(port) => world::Action::BothWays(port),
        Action::Reverse(port) => world::Action::Reverse(port),
        Action::Stuck(port) => world::Action::Stuck(port),
        Action::Noise(port, chance) => world::Action::Noise(port, chance),
        Action::Quiet(port) => world::Action::Quiet(port),
        Action::Burst(port, length) => world::Action::Burst(port, length.picos()),
        Action::Swap(a, b) => world::Action::Swap(a, b),
        Action::Reset(node) => world::Action::Reset(node as usize),
        Action::Press(node) => world::Action::Press(node as usize),
        Action::Release(node) => world::Action::Release(node as usize),
        Action::Brownout(node, within) => world::Action::Brownout(node as usize, within.picos()),
        Action::Off(node) => world::Action::Off(node as usize),
        Action::On(node) => world::Action::On(node as usize),
        Action::Break(..) | Action::All(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use hopwise_emulator::time::MILLISECOND;

    use super::*;

    fn script(text: &str) -> Result<world::Script, String> {
        let network = "ring(5)".parse().expect("a network");
        read(text, &network, default_port).map_err(|error| error.to_string())
    }

    #[test]
    fn ports_have_numbers_and_names() {
        let port = |board, uart| Port { board, uart };
        let text = "1s cut 3.0; 2s plug 3.usart1; 3s cut 3.1\n4s plug 0.0 1.USART6; 5s press 2 for 20ms; 6s off 4 for 200ms; 7s brownout 1 33ms";
        let expected = [
            (1_000, world::Action::Cut(port(3, 0))),
            (2_000, world::Action::Plug(port(3, 0))),
            (3_000, world::Action::Cut(port(3, 2))),
            (4_000, world::Action::PlugInto(port(0, 0), port(1, 5))),
            (5_000, world::Action::Press(2)),
            (5_020, world::Action::Release(2)),
            (6_000, world::Action::Off(4)),
            (6_200, world::Action::On(4)),
            (7_000, world::Action::Brownout(1, 33 * MILLISECOND)),
            (7_016, world::Action::Off(1)),
        ];
        let expected = expected.map(|(millis, action)| (millis * MILLISECOND, action));
        assert_eq!(script(text).expect("a script").events(), expected);
    }

    #[test]
    fn what_cannot_happen_is_refused() {
        for (text, sentence) in [
            (
                "1s break 3.0",
                "line 1: 'break' cannot happen to emulated boards; what can is cut, plug, one-way, both-ways, reverse, stuck, \
                 noise, quiet, burst, swap, reset, brownout, off, on, press, release",
            ),
            (
                "1s cut 3.USART9",
                "line 1: '3.USART9' is not a port such as 3.0 or 3.USART1",
            ),
            ("1s cut 3.2", "line 1: ring(5): node 3 has ports 0 to 1, not 2"),
            (
                "1s cut 5.USART1",
                "line 1: ring(5): there is no node 5: the network has nodes 0 to 4",
            ),
        ] {
            assert_eq!(script(text), Err(sentence.into()));
        }
    }
}

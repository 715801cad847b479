//! Which applications a node has, and for how many more packets each of them has room.
//!
//! A router that knows nothing of its applications gives them all that comes, as far as its inbox holds it. One that was told of them
//! drops what is for nobody, and takes no more for an application than that has room for: what does not read its packets then costs no other
//! anything.

use core::fmt;

use crate::capacities::{Capacities, List};
use crate::wire::AppPort;

#[derive(Clone, Copy, Debug)]
pub(in crate::router) struct ServedPort {
    port: AppPort,
    room: u8,
}

#[derive(Clone, Debug)]
pub(in crate::router) enum ServedPorts<C: Capacities> {
    /// Whatever comes is for someone.
    All,
    Listed(C::ServedPorts<ServedPort>),
}

/// How a packet for an application is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::router) enum Admission {
    Open,
    /// The node's inbox is full for a moment.
    Busy,
    /// The application has no room for it.
    Full,
    /// No application serves the port.
    PortUnreachable,
}

/// No more ports can be served: [`Sizes::served_ports`](crate::capacities::Sizes::served_ports).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TooManyPorts;

impl fmt::Display for TooManyPorts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the node serves as many ports as it can")
    }
}

impl core::error::Error for TooManyPorts {}

impl<C: Capacities> ServedPorts<C> {
    /// From now on only what is listed is served. An application has room for so many packets more.
    pub(in crate::router) fn open(&mut self, port: AppPort, room: u8) -> Result<(), TooManyPorts> {
        if matches!(self, ServedPorts::All) {
            *self = ServedPorts::Listed(C::ServedPorts::default());
        }
        let ServedPorts::Listed(ports) = self else {
            return Ok(());
        };
        match ports.iter_mut().find(|served| served.port == port) {
            Some(served) => served.room = room,
            None => ports.push(ServedPort { port, room }).map_err(|_| TooManyPorts)?,
        }
        Ok(())
    }

    /// From now on only what is listed is served, and nothing is.
    pub(in crate::router) fn close_all(&mut self) {
        *self = ServedPorts::Listed(C::ServedPorts::default());
    }

    pub(in crate::router) fn close(&mut self, port: AppPort) {
        if let ServedPorts::Listed(ports) = self {
            ports.retain(|served| served.port != port);
        }
    }

    pub(in crate::router) fn admission(&self, port: AppPort) -> Admission {
        match self {
            ServedPorts::All => Admission::Open,
            ServedPorts::Listed(ports) => match ports.iter().find(|served| served.port == port) {
                None => Admission::PortUnreachable,
                Some(ServedPort { room: 0, .. }) => Admission::Full,
                Some(_) => Admission::Open,
            },
        }
    }

    /// A packet for an application has come in.
    pub(in crate::router) fn enter(&mut self, port: AppPort) {
        if let ServedPorts::Listed(ports) = self
            && let Some(served) = ports.iter_mut().find(|served| served.port == port)
        {
            served.room = match served.room {
                u8::MAX => u8::MAX,
                room => room.saturating_sub(1),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capacities::Board;

    #[test]
    fn who_is_listed_is_served_while_there_is_room() {
        let (one, other) = (AppPort(20), AppPort(21));
        let mut ports: ServedPorts<Board> = ServedPorts::All;
        assert_eq!(ports.admission(one), Admission::Open);
        ports.enter(one);
        ports.close(one);
        assert_eq!(ports.admission(one), Admission::Open, "nobody was ever listed");
        ports.open(one, 2).unwrap();
        assert_eq!(
            (ports.admission(one), ports.admission(other)),
            (Admission::Open, Admission::PortUnreachable)
        );
        ports.enter(other);
        ports.enter(one);
        assert_eq!(ports.admission(one), Admission::Open);
        ports.enter(one);
        ports.enter(one);
        assert_eq!(ports.admission(one), Admission::Full);
        ports.open(one, u8::MAX).unwrap();
        (0..1_000).for_each(|_| ports.enter(one));
        assert_eq!(ports.admission(one), Admission::Open, "there is no limit");
        ports.close(one);
        assert_eq!(ports.admission(one), Admission::PortUnreachable);
    }

    #[test]
    fn there_are_so_many_doors_and_no_more() {
        let mut ports: ServedPorts<Board> = ServedPorts::All;
        for port in 0..Board::SIZES.served_ports as u8 {
            ports.open(AppPort(port), 1).unwrap();
        }
        assert_eq!(ports.open(AppPort(200), 1), Err(TooManyPorts));
        assert_eq!(ports.open(AppPort(3), 0), Ok(()), "it is listed");
        ports.close(AppPort(3));
        assert_eq!(ports.open(AppPort(200), 1), Ok(()));
        ports.close_all();
        assert_eq!(ports.admission(AppPort(200)), Admission::PortUnreachable);
    }
}

//! The ports that a node serves, and how many more packets each has room for.
//!
//! A router without registered applications accepts everything, up to the size of its inbox. One with them
//! drops packets for unserved ports, and accepts no more for an application than it has room for: an application that does not read its
//! packets then does not affect the others.

use crate::capacities::{Capacities, List};
use crate::wire::AppPort;

#[derive(Clone, Copy, Debug)]
pub(in crate::router) struct ServedPort {
    port: AppPort,
    room: u8,
}

#[derive(Clone, Debug)]
pub(in crate::router) enum ServedPorts<C: Capacities> {
    All,
    Listed(C::ServedPorts<ServedPort>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::router) enum Admission {
    Open,
    /// The node's inbox is momentarily full.
    Busy,
    /// The application has no room for it.
    Full,
    PortUnreachable,
}

/// No more ports can be served: [`Sizes::served_ports`](crate::capacities::Sizes::served_ports).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("the node serves as many ports as it can")]
pub struct TooManyPorts;

impl<C: Capacities> ServedPorts<C> {
    /// Serves only registered ports from now on. The application has room for this many more packets.
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

    /// Serves only registered ports from now on, and removes all.
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

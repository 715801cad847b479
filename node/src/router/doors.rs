//! Which applications a node has, and for how many more packets each of them has room.
//!
//! A router that knows nothing of its applications gives them all that comes, as far as its inbox holds it. One that was told of them
//! drops what is for nobody, and takes no more for an application than that has room for: what does not read its packets then costs no other
//! anything.

use core::fmt;

use crate::capacities::{Capacities, List};
use crate::wire::AppPort;

#[derive(Clone, Copy, Debug)]
pub(super) struct Door {
    port: AppPort,
    room: u8,
}

#[derive(Clone, Debug)]
pub(super) enum Doors<C: Capacities> {
    /// Whatever comes is for someone.
    All,
    Listed(C::ServedPorts<Door>),
}

/// How a packet for an application is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Welcome {
    Open,
    /// The node's inbox is full for a moment.
    Busy,
    /// The application has no room for it.
    Full,
    /// No application serves the port.
    Unserved,
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

impl<C: Capacities> Doors<C> {
    /// From now on only what is listed is served. An application has room for so many packets more.
    pub(super) fn open(&mut self, port: AppPort, room: u8) -> Result<(), TooManyPorts> {
        if matches!(self, Doors::All) {
            *self = Doors::Listed(C::ServedPorts::default());
        }
        let Doors::Listed(doors) = self else {
            return Ok(());
        };
        match doors.iter_mut().find(|door| door.port == port) {
            Some(door) => door.room = room,
            None => doors.push(Door { port, room }).map_err(|_| TooManyPorts)?,
        }
        Ok(())
    }

    /// From now on only what is listed is served, and nothing is.
    pub(super) fn close_all(&mut self) {
        *self = Doors::Listed(C::ServedPorts::default());
    }

    pub(super) fn close(&mut self, port: AppPort) {
        if let Doors::Listed(doors) = self {
            doors.retain(|door| door.port != port);
        }
    }

    pub(super) fn welcome(&self, port: AppPort) -> Welcome {
        match self {
            Doors::All => Welcome::Open,
            Doors::Listed(doors) => match doors.iter().find(|door| door.port == port) {
                None => Welcome::Unserved,
                Some(Door { room: 0, .. }) => Welcome::Full,
                Some(_) => Welcome::Open,
            },
        }
    }

    /// A packet for an application has come in.
    pub(super) fn enter(&mut self, port: AppPort) {
        if let Doors::Listed(doors) = self
            && let Some(door) = doors.iter_mut().find(|door| door.port == port)
        {
            door.room = match door.room {
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
        let mut doors: Doors<Board> = Doors::All;
        assert_eq!(doors.welcome(one), Welcome::Open);
        doors.enter(one);
        doors.close(one);
        assert_eq!(doors.welcome(one), Welcome::Open, "nobody was ever listed");
        doors.open(one, 2).unwrap();
        assert_eq!(
            (doors.welcome(one), doors.welcome(other)),
            (Welcome::Open, Welcome::Unserved)
        );
        doors.enter(other);
        doors.enter(one);
        assert_eq!(doors.welcome(one), Welcome::Open);
        doors.enter(one);
        doors.enter(one);
        assert_eq!(doors.welcome(one), Welcome::Full);
        doors.open(one, u8::MAX).unwrap();
        (0..1_000).for_each(|_| doors.enter(one));
        assert_eq!(doors.welcome(one), Welcome::Open, "there is no limit");
        doors.close(one);
        assert_eq!(doors.welcome(one), Welcome::Unserved);
    }

    #[test]
    fn there_are_so_many_doors_and_no_more() {
        let mut doors: Doors<Board> = Doors::All;
        for port in 0..Board::SIZES.served_ports as u8 {
            doors.open(AppPort(port), 1).unwrap();
        }
        assert_eq!(doors.open(AppPort(200), 1), Err(TooManyPorts));
        assert_eq!(doors.open(AppPort(3), 0), Ok(()), "it is listed");
        doors.close(AppPort(3));
        assert_eq!(doors.open(AppPort(200), 1), Ok(()));
        doors.close_all();
        assert_eq!(doors.welcome(AppPort(200)), Welcome::Unserved);
    }
}

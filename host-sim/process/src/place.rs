//! Where a cable of a process leads.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Where a cable leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// A pseudo-terminal that another program opens, with a link of this name to it.
    Terminal(Option<PathBuf>),
    /// A Unix socket. Whichever of the two ends comes first makes it.
    Socket(PathBuf),
    /// A TCP socket that another process listens at.
    Tcp(String),
    /// A TCP socket that this process listens at.
    Listen(String),
    /// A serial port.
    Serial(PathBuf),
}

/// A text that does not say where a cable leads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is none of pty, pty:LINK, unix:PATH, tcp:HOST:PORT, listen:PORT, listen:HOST:PORT and /dev/...")]
pub struct BadPlace(String);

impl FromStr for Place {
    type Err = BadPlace;

    fn from_str(text: &str) -> Result<Self, BadPlace> {
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let has_port = |address: &str| {
            let port = address.rsplit_once(':').map(|(_, port)| port);
            port.is_some_and(|port| port.parse::<u16>().is_ok())
        };
        match (kind, rest) {
            ("pty", "") if text == "pty" => Ok(Place::Terminal(None)),
            ("pty", link) if !link.is_empty() => Ok(Place::Terminal(Some(link.into()))),
            ("unix", path) if !path.is_empty() => Ok(Place::Socket(path.into())),
            ("tcp", address) if has_port(address) => Ok(Place::Tcp(address.into())),
            // Nobody else on the network is meant unless that is said.
            ("listen", port) if port.parse::<u16>().is_ok() => {
                Ok(Place::Listen(format!("{}:{port}", Ipv4Addr::LOCALHOST)))
            }
            ("listen", address) if has_port(address) => Ok(Place::Listen(address.into())),
            _ if text.starts_with('/') || text.starts_with("COM") => Ok(Place::Serial(text.into())),
            _ => Err(BadPlace(text.into())),
        }
    }
}

/// Whether strangers could be at the other end, so that the mesh needs a key.
pub fn needs_key(place: &Place) -> io::Result<bool> {
    let is_local = |address: SocketAddr| match address.ip() {
        IpAddr::V4(ip) => ip.is_loopback(),
        IpAddr::V6(ip) => ip.is_loopback(),
    };
    match place {
        Place::Tcp(address) | Place::Listen(address) => Ok(!address.to_socket_addrs()?.all(is_local)),
        Place::Terminal(_) | Place::Socket(_) | Place::Serial(_) => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_and_only_loopback_needs_no_key() {
        for (text, place, keyed) in [
            ("pty", Place::Terminal(None), false),
            ("pty:run/0", Place::Terminal(Some("run/0".into())), false),
            ("unix:/tmp/a", Place::Socket("/tmp/a".into()), false),
            ("tcp:localhost:70", Place::Tcp("localhost:70".into()), false),
            ("tcp:192.0.2.1:70", Place::Tcp("192.0.2.1:70".into()), true),
            ("listen:70", Place::Listen("127.0.0.1:70".into()), false),
            ("listen:0.0.0.0:70", Place::Listen("0.0.0.0:70".into()), true),
            ("listen:[::]:70", Place::Listen("[::]:70".into()), true),
            ("/dev/ttyUSB0", Place::Serial("/dev/ttyUSB0".into()), false),
        ] {
            assert_eq!(text.parse(), Ok(place.clone()), "{text}");
            assert_eq!(needs_key(&place).unwrap(), keyed, "{text}");
        }
        for wrong in [
            "",
            "pty:",
            "unix:",
            "tcp:here",
            "tcp:here:no",
            "listen:",
            "listen:70000",
            "ttyUSB0",
        ] {
            assert!(wrong.parse::<Place>().is_err(), "{wrong}");
        }
    }
}

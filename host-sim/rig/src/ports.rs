//! Which serial ports of this host lead to boards, and which one is meant if nobody says.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serialport::{SerialPortInfo, SerialPortType};

use crate::bench::Bench;
use crate::mesh::{Mesh, is_same_probe};

/// The variable that says which port is meant.
pub const VARIABLE: &str = "HOPWISE_PORT";
/// Who makes ST-LINKs.
const VENDOR: u16 = 0x0483;
/// The ST-LINKs that have a serial port.
const PRODUCTS: [u16; 8] = [0x374b, 0x374e, 0x374f, 0x3752, 0x3753, 0x3754, 0x3755, 0x3757];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardPort {
    pub path: PathBuf,
    /// The number of its probe.
    pub probe: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPortSelected {
    #[error("no board with an ST-LINK is plugged in: give --port TTY, or set {VARIABLE}")]
    None,
    #[error("say with --port or {VARIABLE} which of these boards: {}", list(.0))]
    Several(Vec<BoardPort>),
    #[error("{0}")]
    Bench(String),
}

fn list(ports: &[BoardPort]) -> String {
    let port = |port: &BoardPort| format!("{} (probe {})", port.path.display(), port.probe);
    ports.iter().map(port).collect::<Vec<_>>().join(", ")
}

pub fn st_links() -> Result<Vec<BoardPort>, NoPortSelected> {
    let Some(bench) = Bench::named() else {
        return Ok(among(&serialport::available_ports().unwrap_or_default()));
    };
    bench.boards().map_err(|error| NoPortSelected::Bench(error.to_string()))
}

/// The ST-LINKs among some ports, each once. On a Mac a port has two names; that which does not wait for a carrier is taken.
fn among(ports: &[SerialPortInfo]) -> Vec<BoardPort> {
    let mut found: BTreeMap<String, PathBuf> = BTreeMap::new();
    for port in ports {
        let SerialPortType::UsbPort(usb) = &port.port_type else {
            continue;
        };
        if usb.vid != VENDOR || !PRODUCTS.contains(&usb.pid) {
            continue;
        }
        let probe = usb.serial_number.clone().unwrap_or_default();
        let path = found.entry(probe).or_insert_with(|| port.port_name.clone().into());
        if port.port_name.starts_with("/dev/cu.") {
            *path = port.port_name.clone().into();
        }
    }
    let port = |(probe, path)| BoardPort { path, probe };
    found.into_iter().map(port).collect()
}

/// The port that is meant if none is said: that of the variable, or of the one ST-LINK that is there.
pub fn meant() -> Result<PathBuf, NoPortSelected> {
    match std::env::var_os(VARIABLE) {
        Some(path) if !path.is_empty() => Ok(path.into()),
        _ => the_one(st_links()?),
    }
}

fn the_one(mut ports: Vec<BoardPort>) -> Result<PathBuf, NoPortSelected> {
    match ports.len() {
        0 => Err(NoPortSelected::None),
        1 => Ok(ports.swap_remove(0).path),
        _ => Err(NoPortSelected::Several(ports)),
    }
}

/// The same for a mesh: of the boards that are plugged in those whose probes the file names, if it names one of them.
pub fn meant_by(mesh: &Mesh) -> Result<Vec<PathBuf>, NoPortSelected> {
    if std::env::var_os(VARIABLE).is_none_or(|path| path.is_empty()) {
        let named = of_mesh(mesh, &st_links()?);
        if !named.is_empty() {
            return Ok(named);
        }
    }
    meant().map(|port| vec![port])
}

/// The port of the board with a probe, if it is plugged in.
pub fn of_probe(probe: &str) -> Result<Option<PathBuf>, NoPortSelected> {
    let port = st_links()?.into_iter().find(|port| is_same_probe(&port.probe, probe));
    Ok(port.map(|port| port.path))
}

fn of_mesh(mesh: &Mesh, ports: &[BoardPort]) -> Vec<PathBuf> {
    let probes: Vec<String> = mesh.nodes().filter_map(|node| mesh.probe(node)).collect();
    let named = |port: &&BoardPort| probes.iter().any(|probe| is_same_probe(probe, &port.probe));
    ports.iter().filter(named).map(|port| port.path.clone()).collect()
}

#[cfg(test)]
mod tests {
    use serialport::UsbPortInfo;

    use super::*;

    fn usb(name: &str, vid: u16, pid: u16, number: &str) -> SerialPortInfo {
        SerialPortInfo {
            port_name: name.into(),
            port_type: SerialPortType::UsbPort(UsbPortInfo {
                vid,
                pid,
                serial_number: Some(number.into()),
                manufacturer: None,
                product: None,
            }),
        }
    }

    #[test]
    fn the_one_board_that_is_plugged_in_is_meant() {
        let modem = usb("/dev/ttyACM0", 0x1234, 0x374b, "X");
        let other = usb("/dev/ttyACM3", VENDOR, 0x5740, "Y");
        let none = among(&[modem.clone(), other.clone()]);
        assert_eq!(the_one(none), Err(NoPortSelected::None));
        let board = usb("/dev/ttyACM1", VENDOR, 0x374b, "066D");
        let one = among(&[modem, board.clone(), other]);
        assert_eq!(the_one(one), Ok("/dev/ttyACM1".into()));
        let several = the_one(among(&[board, usb("/dev/ttyACM2", VENDOR, 0x374e, "0030")]));
        let boards = "/dev/ttyACM2 (probe 0030), /dev/ttyACM1 (probe 066D)";
        let why = format!("say with --port or HOPWISE_PORT which of these boards: {boards}");
        assert_eq!(several.unwrap_err().to_string(), why);
    }

    #[test]
    fn two_names_of_a_port_are_one_board() {
        let names = ["/dev/tty.usbmodem1", "/dev/cu.usbmodem1"].map(|name| usb(name, VENDOR, 0x374b, "066D"));
        for names in [names.clone(), [names[1].clone(), names[0].clone()]] {
            assert_eq!(the_one(among(&names)), Ok("/dev/cu.usbmodem1".into()));
        }
    }

    #[test]
    fn a_mesh_means_the_boards_that_it_names() {
        let text = "network = \"ring(3)\"\nboard = \"nucleo-f446re\"\n[[node]]\naddress = 1\nprobe = \"066d\"\n";
        let mesh = Mesh::parse(text).unwrap();
        let ports = among(&[
            usb("/dev/ttyACM1", VENDOR, 0x374b, "0030"),
            usb("/dev/ttyACM2", VENDOR, 0x374b, "066D"),
        ]);
        assert_eq!(of_mesh(&mesh, &ports), [PathBuf::from("/dev/ttyACM2")]);
        assert!(of_mesh(&mesh, &ports[..1]).is_empty());
    }
}

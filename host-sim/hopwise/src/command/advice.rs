//! What to do about the errors that a new user meets: the rooms say what is wrong, and here the sentence ends in a command. Those that
//! are quoted in docs/troubleshooting.md are compared with that page.

use std::error::Error;
use std::io::ErrorKind;
use std::path::Path;

use hopwise_emulate::rig::CannotEmulate;
use hopwise_host::NoConnection;
use hopwise_rig::boards::KINDS;
use hopwise_rig::capture::CannotCapture;
use hopwise_rig::flash::NoProbes;
use hopwise_rig::mesh::{BadMesh, MeshRule};
use hopwise_rig::ports::{NoPortSelected, VARIABLE};
use hopwise_rig::serial_line::{BadPort, PortFault};
use serialport::{SerialPortType, available_ports};

use super::hint;
use super::output::listed;

/// How probes get into a mesh file.
pub(super) const ASSIGN: &str = "`hopwise mesh assign MESH.toml` writes them as you plug in one board after the other";
pub(super) const NO_BOARD: &str = "no board with an ST-LINK is plugged in, or its USB cable only charges: try another cable until \
                                   `probe-rs list` shows the board";

/// What is said of an error, or of what caused it, instead of its own sentence.
pub(super) fn sentence(error: &(dyn Error + 'static)) -> Option<String> {
    let said = if let Some(bad) = error.downcast_ref() {
        of_port(bad)
    } else if let Some(bad) = error.downcast_ref() {
        of_mesh_file(bad)
    } else if let Some(NoConnection::NotInImage(_) | NoConnection::NoMesh { .. }) = error.downcast_ref() {
        Some(format!("{error}: `hopwise flash MESH.toml`"))
    } else if let Some(NoPortSelected::None) = error.downcast_ref() {
        Some(format!("give --port TTY, or set {VARIABLE}: {NO_BOARD}"))
    } else if let Some(NoProbes(nodes)) = error.downcast_ref() {
        let nodes = listed(nodes);
        Some(format!("the mesh file names no probe for {nodes}: {ASSIGN}"))
    } else if let Some(CannotCapture::NoProbes) = error.downcast_ref() {
        Some(format!("the mesh file names no probes: {ASSIGN}"))
    } else if let Some(CannotEmulate::NoSuchBoard(name)) = error.downcast_ref() {
        Some(format!("{error}{}", did_you_mean(name)))
    } else {
        None
    };
    said.or_else(|| error.source().and_then(sentence))
}

fn of_port(bad: &BadPort) -> Option<String> {
    let path = bad.path.display();
    let others = || others(&usb_ports());
    Some(match &bad.fault {
        PortFault::Io(error) if error.kind() == ErrorKind::NotFound => {
            format!("{path}: there is no such serial port; {}", others())
        }
        PortFault::Io(error) if error.kind() == ErrorKind::PermissionDenied => format!(
            "{path}: you may not open this port: `sudo usermod -aG {} $USER` adds you to its group, from your next login on",
            group(&bad.path).unwrap_or_else(|| "dialout".into())
        ),
        PortFault::NotSerial(_) => format!("{path}: this is not a serial port; {}", others()),
        PortFault::Busy => format!("{bad}; `fuser -v {path}` names it"),
        PortFault::Silent(_) => format!("{bad} `hopwise flash MESH.toml` flashes it, --baud says another rate"),
        _ => return None,
    })
}

/// The serial ports that there are; those that are soldered in lead to no board.
fn usb_ports() -> Vec<String> {
    let ports = available_ports().unwrap_or_default().into_iter();
    let usb = ports.filter(|port| matches!(port.port_type, SerialPortType::UsbPort(_)));
    usb.map(|port| port.port_name).collect()
}

/// What to do if these ports are there, and not the one that was meant.
fn others(ports: &[String]) -> String {
    match ports {
        [] => NO_BOARD.into(),
        _ => format!("give --port {}", ports.join(" or --port ")),
    }
}

#[cfg(unix)]
fn group(path: &Path) -> Option<String> {
    let id = std::os::unix::fs::MetadataExt::gid(&path.metadata().ok()?).to_string();
    let groups = std::fs::read_to_string("/etc/group").ok()?;
    let mut fields = groups.lines().map(|line| line.split(':').collect::<Vec<_>>());
    fields.find_map(|fields| (*fields.get(2)? == id).then(|| fields[0].into()))
}

#[cfg(not(unix))]
fn group(_: &Path) -> Option<String> {
    None
}

fn of_mesh_file(bad: &BadMesh) -> Option<String> {
    match bad {
        BadMesh::Unreadable { path, error } if error.kind() == ErrorKind::NotFound => {
            let whole = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            let (whole, path) = (whole.display(), path.display());
            Some(format!(
                "{whole}: there is no such file: `hopwise mesh new EXPR -o {path}` writes a mesh file"
            ))
        }
        BadMesh::InFile { broken, .. } => match &broken.rule {
            MeshRule::UnknownBoard(name) => Some(format!("{bad}{}", did_you_mean(name))),
            _ => None,
        },
        _ => None,
    }
}

/// The board that may have been meant by a name that none has.
pub(super) fn did_you_mean(name: &str) -> String {
    let known: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    let mut longer = known.iter().filter(|known| name.len() > 2 && known.contains(name));
    let meant = hint::similar(name, &known).or_else(|| longer.next().copied());
    meant.map_or_else(String::new, |meant| format!("; did you mean {meant}?"))
}

#[cfg(test)]
mod tests {
    use std::io;

    use hopwise_emulate::firmware::CannotBuildFirmware;
    use hopwise_emulate::repository::NoRepository;
    use hopwise_node::wire::BoardState;
    use hopwise_rig::ports::BoardPort;
    use hopwise_testing::is_like;

    use super::super::error::CliError;
    use super::*;

    fn port(fault: PortFault) -> CliError {
        let path = "/dev/null".into();
        NoConnection::Port(BadPort { path, fault }).into()
    }

    fn sentences() -> Vec<String> {
        let path = Path::new("mesh.toml");
        let unreadable = BadMesh::Unreadable {
            path: path.into(),
            error: ErrorKind::NotFound.into(),
        };
        let no_mesh = NoConnection::NoMesh {
            port: "/dev/ttyACM0".into(),
            state: BoardState::NoConfig,
        };
        let several = BoardPort {
            path: "/dev/ttyACM0".into(),
            probe: "066D".into(),
        };
        let errors: Vec<CliError> = vec![
            port(PortFault::Io(ErrorKind::NotFound.into())),
            port(PortFault::Io(ErrorKind::PermissionDenied.into())),
            port(PortFault::NotSerial(io::Error::other("no terminal").into())),
            port(PortFault::Busy),
            port(PortFault::Silent(115_200)),
            NoPortSelected::None.into(),
            super::super::no_boards(NoPortSelected::None),
            super::super::none_of_mesh(NoPortSelected::Several(vec![several.clone(), several])),
            no_mesh.into(),
            NoProbes(vec![0, 2]).into(),
            unreadable.into(),
            CliError::not_created(path, &ErrorKind::AlreadyExists.into()),
            CliError::new(super::super::mesh::parse_kind("nucleo-f446").err().unwrap()),
            CannotEmulate::NoSuchBoard("f401".into()).into(),
            CannotBuildFirmware::NoCompiler.into(),
            NoRepository::Nowhere.into(),
        ];
        errors.iter().map(|error| format!("hopwise: {error}")).collect()
    }

    #[test]
    fn the_page_quotes_what_is_said() {
        let page = include_str!("../../../../docs/troubleshooting.md");
        let blocks = page.split("\n```text\n").skip(1);
        let quoted: Vec<&str> = blocks
            .flat_map(|block| block.split("\n```").next().unwrap().lines())
            .collect();
        let said = sentences();
        for sentence in &said {
            let there = quoted.iter().any(|quoted| is_like(sentence, quoted));
            assert!(there, "docs/troubleshooting.md does not quote: {sentence}");
        }
        for quoted in quoted {
            let there = said.iter().any(|sentence| is_like(sentence, quoted));
            assert!(there, "docs/troubleshooting.md quotes what is not said: {quoted}");
        }
    }

    #[test]
    fn ports_groups_and_boards_are_named() {
        let ports = ["/dev/ttyACM1", "/dev/ttyUSB0"].map(String::from);
        assert_eq!(others(&ports), "give --port /dev/ttyACM1 or --port /dev/ttyUSB0");
        assert_eq!(group(Path::new("/dev/null")).as_deref(), Some("root"));
        assert_eq!(did_you_mean("nucelo-f446re"), "; did you mean nucleo-f446re?");
        assert_eq!(did_you_mean("g474"), "; did you mean nucleo-g474re?");
        assert_eq!(did_you_mean("toaster"), "");
    }
}

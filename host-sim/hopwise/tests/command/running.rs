//! Emulated boards in real time, with serial ports at terminals, and a program of a user's for them.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::OnceLock;

use crate::support::{Folder, command, elf, hopwise};

/// A program that is ended with its owner.
pub(crate) struct Ending(pub(crate) Child);

impl Ending {
    pub(crate) fn of(command: &mut Command) -> Self {
        Ending(command.spawn().expect("the command starts"))
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) struct Running {
    _emulation: Ending,
    pub(crate) ports: [String; 2],
    _said: BufReader<ChildStderr>,
}

impl Running {
    pub(crate) fn start(folder: &Folder, network: &str, elf: &str) -> Self {
        let log = folder.path("log.txt");
        let mut emulation = command(&["emulate", network, "--elf", elf, "--for", "600s"]);
        emulation.args(["--serial", "0.USART2=pty", "--serial", "1.USART2=pty"]);
        emulation
            .stdout(File::create(&log).expect("a log"))
            .stderr(Stdio::piped());
        let mut emulation = Ending::of(&mut emulation);
        let mut said = BufReader::new(emulation.0.stderr.take().expect("a pipe"));
        let mut port = |board: usize| {
            let mut line = String::new();
            said.read_line(&mut line).expect("a line");
            let port = line.trim().strip_prefix(&format!("board {board} is at "));
            port.unwrap_or_else(|| panic!("{line}")).to_string()
        };
        Running {
            ports: [port(0), port(1)],
            _emulation: emulation,
            _said: said,
        }
    }
}

/// The crate that `hopwise new-app` writes, in a folder of its own, and its image; `None` if there is no ARM compiler.
pub(crate) struct NewApp {
    pub(crate) folder: PathBuf,
    pub(crate) elf: String,
}

pub(crate) fn new_app() -> Option<&'static NewApp> {
    static APP: OnceLock<Option<NewApp>> = OnceLock::new();
    APP.get_or_init(make_app).as_ref()
}

fn make_app() -> Option<NewApp> {
    // The image is built: there is a compiler, and what the two have in common is compiled.
    elf()?;
    // Outside of any repository, and in the same place each time: what is compiled for it is found again.
    let checkout = Path::new("../..").canonicalize().expect("the repository");
    let name = checkout.to_string_lossy().replace('/', "-");
    let around = std::env::temp_dir().join(format!("hopwise-new-app{name}"));
    let _ = std::fs::remove_dir_all(&around);
    std::fs::create_dir_all(&around).expect("a folder");
    let folder = around.join("hello");
    let made = hopwise(&["new-app", folder.to_str().expect("UTF-8")]);
    assert!(made.status.success(), "{made:?}");
    // Run to its end at once: what counts is that it is built.
    let built = command(&["emulate", "path(2)", "--for", "1ms", "--app"])
        .arg(&folder)
        .output();
    let built = built.expect("the command starts");
    let _ = std::io::stderr().write_all(&built.stderr);
    assert!(built.status.success(), "{built:?}");
    let elf = folder.join("target/thumbv7em-none-eabihf/release/hello");
    let elf = elf.to_str().expect("UTF-8").into();
    Some(NewApp { folder, elf })
}

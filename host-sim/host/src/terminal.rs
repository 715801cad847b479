//! Pseudo-terminals: serial ports that a program provides and others open.

use std::fs::File;
use std::io;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

/// A pseudo-terminal in raw mode, and the path of its other end.
pub fn open_terminal() -> io::Result<(File, String)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let path = ptsname(&master, Vec::new())?.to_string_lossy().into_owned();
    let mut modes = tcgetattr(&master)?;
    modes.make_raw();
    tcsetattr(&master, OptionalActions::Now, &modes)?;
    Ok((File::from(master), path))
}

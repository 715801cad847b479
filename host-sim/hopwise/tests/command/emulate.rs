//! GDB at emulated boards. The rest is in `transcripts/emulate.txt`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::emulator_support::elf as test_elf;
use crate::support::command;

/// Sends a packet of GDB's protocol and returns the response without its frame.
fn ask(stream: &mut TcpStream, packet: &str) -> String {
    let sum = packet.bytes().fold(0u8, |sum, byte| sum.wrapping_add(byte));
    write!(stream, "${packet}#{sum:02x}").expect("the server listens");
    let (mut response, mut byte) = (Vec::new(), [0]);
    while !(response.len() > 3 && response[response.len() - 3] == b'#') {
        stream.read_exact(&mut byte).expect("a response");
        if !(response.is_empty() && byte[0] == b'+') {
            response.push(byte[0]);
        }
    }
    stream.write_all(b"+").expect("the server listens");
    expand(&response[1..response.len() - 3])
}

/// Undoes the run-length encoding of the protocol: `c*n` is `c` and 29 less than the code of `n` more of it.
fn expand(response: &[u8]) -> String {
    let mut text = String::new();
    for (place, byte) in response.iter().enumerate() {
        match (place.checked_sub(1).map(|before| response[before]), *byte) {
            (_, b'*') => {}
            (Some(b'*'), count) => {
                let last = text.chars().last().expect("something to repeat");
                text.extend(std::iter::repeat_n(last, usize::from(count) - 29));
            }
            (_, byte) => text.push(char::from(byte)),
        }
    }
    text
}

/// Starts the emulation of three boards; it, and the first line that it says.
fn emulation(elf: impl AsRef<std::ffi::OsStr>, options: &[&str]) -> (Child, String) {
    let mut command = command(&["emulate", "ring(3)", "--elf"]);
    command.arg(elf).args(options);
    command.stderr(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().expect("hopwise");
    let mut line = String::new();
    // The pipe stays with the child: more may be said.
    let said = child.stderr.as_mut().expect("a pipe");
    BufReader::new(said).read_line(&mut line).expect("a line");
    (child, line.trim_end().into())
}

#[test]
fn gdb_reads_registers_steps_and_stops_at_a_breakpoint() {
    let Some(elf) = test_elf() else { return };
    let (mut child, line) = emulation(&elf, &["--for", "20ms", "--gdb", "0", "--node", "1"]);
    let address = line.rsplit(' ').next().expect("an address").trim_end_matches('\'');
    let mut gdb = TcpStream::connect(address).expect("the server");
    gdb.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    let image = crate::emulator_support::firmware().expect("it was built");
    let pc = |registers: &str| {
        let byte = |place: usize| u8::from_str_radix(&registers[120 + place * 2..122 + place * 2], 16).expect("hex");
        let bytes: Vec<u8> = (0..4).map(byte).collect();
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    };
    let found = pc(&ask(&mut gdb, "g"));
    assert_eq!(found, image.address_of("Reset").expect("a reset handler"));
    let stopped = ask(&mut gdb, "s");
    assert!(stopped.contains("05"), "{stopped}");
    let main = image.address_of("main").expect("a main function");
    assert_eq!(ask(&mut gdb, &format!("Z0,{main:x},2")), "OK");
    let stopped = ask(&mut gdb, "c");
    assert!(stopped.contains("05"), "{stopped}");
    assert_eq!(pc(&ask(&mut gdb, "g")), main);
    assert_eq!(ask(&mut gdb, "m8000000,4").len(), 8);
    assert_eq!(ask(&mut gdb, "D"), "OK");
    assert!(child.wait().expect("an end").success());
}

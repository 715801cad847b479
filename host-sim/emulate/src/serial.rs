//! A board's serial port on the host: a Unix socket or a pseudo-terminal that other programs open.

use std::path::{Path, PathBuf};

use hopwise_emulator::world::{Port, World};
use hopwise_language::script::{NoSuchPlace, PortName, PortOf};

pub use super::host_side::CannotOpenPort;
use super::host_side::HostSide;
use super::script::default_port;

/// Where a serial port goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SerialPort {
    pub name: PortName,
    /// The path of the socket; `None` makes a pseudo-terminal.
    pub socket: Option<PathBuf>,
}

impl SerialPort {
    /// Reads `PORT=pty` or `PORT=unix:PATH`.
    pub fn parse(text: &str) -> Result<Self, NoSuchPlace> {
        let form = || NoSuchPlace(format!("'{text}' is not PORT=pty or PORT=unix:PATH"));
        let (port, place) = text.split_once('=').ok_or_else(form)?;
        let name = port.parse::<PortName>()?;
        if let PortOf::Uart(_) = name.port {
            // Boards have links of their own, but serial ports have the same names on all.
            default_port(&name)?;
        }
        match place.split_once(':') {
            Some(("unix", path)) if !path.is_empty() => Ok(SerialPort {
                name,
                socket: Some(path.into()),
            }),
            None if place == "pty" => Ok(SerialPort { name, socket: None }),
            _ => Err(NoSuchPlace(format!("'{place}' is neither pty nor unix:PATH"))),
        }
    }
}

/// A port that is open to other programs.
pub struct OpenPort {
    port: Port,
    host: HostSide,
    /// What the other program opens.
    pub path: String,
}

impl OpenPort {
    /// Makes the socket at a path, or the pseudo-terminal, for a port.
    pub fn open(port: Port, socket: Option<&Path>) -> Result<Self, CannotOpenPort> {
        let (host, path) = HostSide::open(socket)?;
        Ok(OpenPort { port, host, path })
    }

    /// A serial port of this machine that a port is wired to, opened whenever it is there.
    pub fn wired(port: Port, path: &Path, baud: u32, say: fn(&str)) -> Result<Self, CannotOpenPort> {
        let host = HostSide::serial(path, baud, say)?;
        let path = path.display().to_string();
        Ok(OpenPort { port, host, path })
    }

    /// Carries bytes both ways. Nobody at the other end is no error: what the board sends is then lost, as on a cable.
    /// Nothing is taken from the other program while earlier bytes are on the emulated wire, so that it has to wait as
    /// it would for a real port.
    pub fn exchange(&mut self, world: &mut World) {
        let board = &mut world.boards_mut()[self.port.board];
        let from_board = board.take_bytes(self.port.uart);
        let mut buffer = [0; 1024];
        let room = if board.is_being_fed(self.port.uart) {
            &mut []
        } else {
            &mut buffer[..]
        };
        let received = self.host.pass(&from_board, room);
        board.feed(self.port.uart, &buffer[..received]);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::{ErrorKind, Read, Write};
    use std::os::unix::fs::OpenOptionsExt;
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;

    use hopwise_emulator::cpu::Bus;
    use hopwise_emulator::image::Image;
    use hopwise_emulator::time::{MICROSECOND, MILLISECOND, SECOND};
    use hopwise_emulator::world::{Action, Board, BoardOptions, Script};

    use super::*;

    #[test]
    fn places_are_read() {
        let name = PortName {
            node: 3,
            port: PortOf::Uart("USART2".into()),
        };
        let port = |socket: Option<PathBuf>| SerialPort {
            name: name.clone(),
            socket,
        };
        assert_eq!(SerialPort::parse("3.USART2=pty"), Ok(port(None)));
        let found = SerialPort::parse("3.usart2=unix:/tmp/x");
        assert_eq!(found, Ok(port(Some("/tmp/x".into()))));
        for wrong in [
            "3.USART2",
            "3.USART2=",
            "3.USART2=unix:",
            "3.USART9=pty",
            "USART2=pty",
            "3.USART2=tty",
        ] {
            assert!(SerialPort::parse(wrong).is_err(), "{wrong}");
        }
    }

    /// Sends back every byte of USART2 with bit 5 inverted; it sleeps in between.
    ///
    /// ```text
    ///         cpsid i
    ///         ldr   r0, =0x40023840   @ RCC_APB1ENR
    ///         movs  r1, #1
    ///         lsls  r1, r1, #17
    ///         str   r1, [r0]
    ///         ldr   r0, =0x40004400   @ USART2: 115200 baud at 16 MHz, with RXNEIE
    ///         movs  r1, #139
    ///         str   r1, [r0, #8]
    ///         movw  r1, #0x202c
    ///         str   r1, [r0, #12]
    ///         ldr   r4, =0xe000e104   @ NVIC_ISER1
    ///         movs  r5, #0x40
    ///         str   r5, [r4]
    ///         ldr   r4, =0xe000e284   @ NVIC_ICPR1
    ///         movs  r3, #0x20
    /// again:  wfi
    ///         ldr   r1, [r0]
    ///         lsls  r2, r1, #26
    ///         bpl   done
    ///         ldr   r1, [r0, #4]
    ///         eors  r1, r3
    ///         str   r1, [r0, #4]
    /// done:   str   r5, [r4]
    ///         b     again
    /// ```
    const ECHO: &[u16] = &[
        0x1000, 0x2000, 0x0009, 0x0800, 0xb672, 0x480c, 0x2101, 0x0449, 0x6001, 0x480b, 0x218b, 0x6081, 0xf242, 0x012c,
        0x60c1, 0x4c09, 0x2540, 0x6025, 0x4c08, 0x2320, 0xbf30, 0x6801, 0x068a, 0xd502, 0x6841, 0x4059, 0x6041, 0x6025,
        0xe7f6, 0x0000, 0x3840, 0x4002, 0x4400, 0x4000, 0xe104, 0xe000, 0xe284, 0xe000,
    ];

    /// Two boards that echo, the second of them connected to the host.
    fn echoing() -> (World, Port) {
        let flash = ECHO.iter().flat_map(|half| half.to_le_bytes()).collect();
        let image = Arc::new(Image::from_bytes(flash));
        let mut world = World::new(1);
        // PA2 and PA3 are pins of USART2; the program leaves that to us.
        let pins = [(0x4002_3830, 1), (0x4002_0020, 0x7700), (0x4002_0000, 0xa800_00a0)];
        for _ in 0..2 {
            let mut board = Board::new(&image, BoardOptions::default());
            let cpu = &mut board.cpu;
            for (register, value) in pins {
                let written = cpu.bus.write(register, 4, value, cpu.now, &mut cpu.memory);
                assert_eq!(written, Some(()));
            }
            world.add(board);
        }
        let port = Port { board: 1, uart: 1 };
        world.connect_host(port).expect("a free port");
        // Until both are asleep.
        world.run_until(MILLISECOND);
        (world, port)
    }

    /// Sends a text of several times the buffer through the port and expects its echo, within two virtual seconds.
    fn expect_echo(world: &mut World, port: &mut OpenPort, other_end: &mut (impl Read + Write)) {
        let text: Vec<u8> = (0..3000u32).map(|number| (number * 7 % 251) as u8).collect();
        let expected: Vec<u8> = text.iter().map(|byte| byte ^ 0x20).collect();
        let (mut sent, mut heard) = (0, Vec::<u8>::new());
        let end = world.now() + 2 * SECOND;
        while heard.len() < expected.len() && world.now() < end {
            match other_end.write(&text[sent..(sent + 500).min(text.len())]) {
                Ok(more) => sent += more,
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
            port.exchange(world);
            world.run_until(world.now() + 10 * MILLISECOND);
            port.exchange(world);
            let mut buffer = [0; 4096];
            match other_end.read(&mut buffer) {
                Ok(more) => heard.extend(&buffer[..more]),
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
        }
        assert_eq!(heard.len(), expected.len(), "{sent} bytes were sent");
        assert_eq!(heard, expected);
    }

    #[test]
    fn bytes_go_through_a_terminal_both_ways() {
        let (mut world, port) = echoing();
        let mut open = OpenPort::open(port, None).expect("a terminal");
        // Nobody has opened it yet: that is no error, and what was sent is lost.
        world.boards_mut()[1].feed(1, b"lost");
        world.run_until(world.now() + 10 * MILLISECOND);
        open.exchange(&mut world);
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        let mut terminal = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(flags.bits() as i32)
            .open(&open.path)
            .expect("the other end");
        let mut unread = [0; 16];
        let _ = terminal.read(&mut unread);
        expect_echo(&mut world, &mut open, &mut terminal);
    }

    /// A byte takes 87 microseconds, and the first instructions after a reset one.
    #[test]
    fn what_is_done_to_a_sleeping_board_is_done_now() {
        let (mut world, _) = echoing();
        let later = |world: &mut World, microseconds| world.run_until(world.now() + microseconds * MICROSECOND);
        later(&mut world, 5_000);
        world.boards_mut()[1].feed(1, b"a");
        later(&mut world, 60);
        assert_eq!(world.boards_mut()[1].take_bytes(1), b"");
        later(&mut world, 100);
        assert_eq!(world.boards_mut()[1].take_bytes(1), b"A");
        let reset = (world.now() + 5 * MILLISECOND, Action::Reset(0));
        world.set_script(Script::new(vec![reset])).expect("a script");
        later(&mut world, 5_001);
        let begun = world.boards()[0].cpu.instructions;
        later(&mut world, 100);
        assert!(begun < world.boards()[0].cpu.instructions);
    }

    #[test]
    fn bytes_go_through_a_socket_both_ways_and_clients_come_and_go() {
        let (mut world, port) = echoing();
        let path = std::env::temp_dir().join(format!("hopwise-echo-{}", std::process::id()));
        let mut open = OpenPort::open(port, Some(&path)).expect("a socket");
        for _ in 0..2 {
            let mut client = UnixStream::connect(&path).expect("a listener");
            client.set_nonblocking(true).expect("a mode");
            expect_echo(&mut world, &mut open, &mut client);
            drop(client);
            world.run_until(world.now() + 10 * MILLISECOND);
            open.exchange(&mut world);
        }
        drop(open);
        assert!(!path.exists(), "the socket is cleaned away");
    }
}

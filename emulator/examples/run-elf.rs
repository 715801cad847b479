//! Runs an ELF file on one emulated board and prints what came of it as a line of JSON: `run-elf BOARD MILLISECONDS FILE`. The button is
//! pressed at a third of the time and let go at two thirds. It ends earlier at a fault, of which a breakpoint instruction is one.
//! `tools/embassy-examples` and `tools/embassy-hil` use it.
//!
//! What else is wired follows: `USART3=PD8,PD9` has the cable of a serial port at these pins, TX and RX, `I2C2=0x5f` a memory of 256 bytes at an I2C
//! port, in which each byte is its own place, `PA9-PA10` a wire between two pins, which leads back what a serial port sends between them, `HSE=8000000` a crystal, and
//! `RAM=320` so many KiB of RAM.

use std::process::ExitCode;
use std::sync::Arc;

use hopwise_emulator::boards::{self, BoardKind};
use hopwise_emulator::chip::UART_NAMES;
use hopwise_emulator::chip::clocks::Hse;
use hopwise_emulator::chip::i2c::I2cMemory;
use hopwise_emulator::chip::pins::{Pin, Wiring};
use hopwise_emulator::cpu::fault::Fault;
use hopwise_emulator::image::Image;
use hopwise_emulator::time::{MILLISECOND, Time};
use hopwise_emulator::world::{Action, Board, BoardOptions, Port, Script, World};

/// Ports whose pins are watched, from A.
const PORTS: usize = 11;
/// Bytes of the log that are printed.
const LAST: usize = 2000;

fn main() -> ExitCode {
    match run() {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("run-elf: {why}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<String, String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [name, milliseconds, file, wires @ ..] = &words[..] else {
        return Err(
            "run-elf BOARD MILLISECONDS FILE [PORT=TX,RX] [PORT=ADDRESS] [PIN-PIN] [HSE=HERTZ] [RAM=KIB]".into(),
        );
    };
    let kind = boards::find(name).ok_or_else(|| format!("there is no board '{name}'"))?;
    let milliseconds: Time = milliseconds
        .parse()
        .map_err(|_| format!("'{milliseconds}' is no number"))?;
    let elf = std::fs::read(file).map_err(|error| format!("{file}: {error}"))?;
    let image = Arc::new(Image::from_elf(&elf).map_err(|error| format!("{file}: {error}"))?);

    let mut world = World::new(1);
    world.add(wired(kind, &image, wires)?);
    join(&mut world, wires)?;
    let third = milliseconds * MILLISECOND / 3;
    let script = Script::new(vec![(third, Action::Press(0)), (2 * third, Action::Release(0))]);
    world.set_script(script).map_err(|error| error.to_string())?;
    let mut levels = [[None; 16]; PORTS];
    let (mut changes, mut log) = (0, Vec::new());
    for millisecond in 1..=milliseconds {
        world.run_until(millisecond * MILLISECOND);
        let board = &mut world.boards_mut()[0];
        log.extend(board.take_log().into_iter().flat_map(|(_, bytes)| bytes));
        for (port, pins) in levels.iter_mut().enumerate() {
            for (pin, level) in (0..).zip(pins) {
                let now = board.output(port, pin);
                changes += u64::from(level.is_some() && now.is_some() && *level != now);
                *level = now;
            }
        }
        if !board.faults().is_empty() {
            break;
        }
    }
    let board = &world.boards()[0];
    let sent: u64 = (0..hopwise_emulator::chip::UARTS)
        .map(|uart| board.traffic(uart).sent)
        .sum();
    let unmodeled: Vec<&str> = board.remarks().iter().map(|remark| remark.what.as_str()).collect();
    let broken: Vec<String> = board.violations().iter().map(ToString::to_string).collect();
    let is_breakpoint = board
        .faults()
        .first()
        .is_some_and(|fault| fault.fault == Fault::Breakpoint);
    let fault = board.faults().first().map(ToString::to_string);
    let fault = fault.map(|fault| fault.lines().next().unwrap_or_default().to_string());
    let last: String = log[log.len().saturating_sub(LAST)..]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Ok(format!(
        "{{\"instructions\":{},\"milliseconds\":{},\"log_bytes\":{},\"log_end\":\"{last}\",\"pin_changes\":{changes},\"bytes_sent\":{sent},\
         \"resets\":{},\"breakpoint\":{is_breakpoint},\"fault\":{},\"unmodeled\":{},\"violations\":{}}}",
        board.cpu.instructions,
        world.now() / MILLISECOND,
        log.len(),
        board.resets(),
        fault.map_or("null".into(), |fault| quoted(&fault)),
        list(unmodeled.into_iter()),
        list(broken.iter().map(String::as_str)),
    ))
}

/// A board with what is wired to it besides.
fn wired(kind: &'static BoardKind, image: &Arc<Image>, wires: &[String]) -> Result<Board, String> {
    let (mut ports, mut targets, mut hse, mut ram) = (kind.ports.to_vec(), Vec::new(), kind.hse, None);
    for wire in wires.iter().filter(|wire| pins(wire).is_none()) {
        if let Some(kib) = wire.strip_prefix("RAM=") {
            ram = Some(kib.parse::<usize>().map_err(|_| format!("'{kib}' is no number"))? * 1024);
            continue;
        }
        let wrong = || format!("'{wire}' is none of PORT=TX,RX, PORT=ADDRESS, PIN-PIN, HSE=HERTZ and RAM=KIB");
        let (port, place) = wire.split_once('=').ok_or_else(wrong)?;
        if port == "HSE" {
            hse = Hse::Crystal(place.parse().map_err(|_| wrong())?);
        } else if let Some((tx, rx)) = place.split_once(',') {
            let uart = UART_NAMES.iter().position(|name| *name == port).ok_or_else(wrong)?;
            ports.retain(|wiring| wiring.uart != uart);
            ports.insert(0, Wiring::new(uart, tx, rx));
        } else {
            let address = place.strip_prefix("0x").ok_or_else(wrong)?;
            targets.push((port, u8::from_str_radix(address, 16).map_err(|_| wrong())?));
        }
    }
    // One run, then the process ends.
    let kind = Box::leak(Box::new(BoardKind {
        ports: Box::leak(ports.into_boxed_slice()),
        hse,
        ..*kind
    }));
    let options = BoardOptions {
        ram,
        ..BoardOptions::of(kind)
    };
    let mut board = Board::new(image, options);
    let contents: Vec<u8> = (0..=255).collect();
    for (port, address) in targets {
        if !board.attach_i2c(port, address, Box::new(I2cMemory::new(256).with(&contents))) {
            return Err(format!("the chip has no {port}"));
        }
    }
    Ok(board)
}

/// The pins that a wire joins, if that is what it says.
fn pins(wire: &str) -> Option<(Pin, Pin)> {
    let (one, other) = wire.split_once('-')?;
    Some((Pin::named(one), Pin::named(other)))
}

fn join(world: &mut World, wires: &[String]) -> Result<(), String> {
    for (one, other) in wires.iter().filter_map(|wire| pins(wire)) {
        let board = &mut world.boards_mut()[0];
        board.join_pins(one, other);
        let mut ports = board.kind().ports.iter();
        let looped = ports.find(|port| [(one, other), (other, one)].contains(&(port.tx, port.rx)));
        if let Some(&Wiring { uart, .. }) = looped {
            let port = Port { board: 0, uart };
            world.join(port, Some(port)).map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}

fn list<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    format!("[{}]", texts.map(quoted).collect::<Vec<_>>().join(","))
}

fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

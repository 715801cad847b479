//! Runs an ELF file on one emulated board and prints what came of it as a line of JSON: `run-elf BOARD MILLISECONDS FILE`. The button is
//! pressed at a third of the time and let go at two thirds. `tools/embassy-examples` uses it.
//!
//! What else is wired follows: `USART3=PD8,PD9` has the cable of a serial port at these pins, TX and RX, and `I2C2=0x5f` a memory of 256 bytes at an I2C
//! port, in which each byte is its own place.

use std::process::ExitCode;
use std::sync::Arc;

use hopwise_emulator::boards::{self, BoardKind};
use hopwise_emulator::chip::UART_NAMES;
use hopwise_emulator::chip::i2c::I2cMemory;
use hopwise_emulator::chip::pins::Wiring;
use hopwise_emulator::image::Image;
use hopwise_emulator::time::{MILLISECOND, Time};
use hopwise_emulator::world::{Action, Board, BoardOptions, Script, World};

/// Ports whose pins are watched, from A.
const PORTS: usize = 11;

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
        return Err("run-elf BOARD MILLISECONDS FILE [PORT=TX,RX] [PORT=ADDRESS]".into());
    };
    let kind = boards::find(name).ok_or_else(|| format!("there is no board '{name}'"))?;
    let milliseconds: Time = milliseconds
        .parse()
        .map_err(|_| format!("'{milliseconds}' is no number"))?;
    let elf = std::fs::read(file).map_err(|error| format!("{file}: {error}"))?;
    let image = Arc::new(Image::from_elf(&elf).map_err(|error| format!("{file}: {error}"))?);

    let mut world = World::new(1);
    world.add(wired(kind, &image, wires)?);
    let third = milliseconds * MILLISECOND / 3;
    let script = Script::new(vec![(third, Action::Press(0)), (2 * third, Action::Release(0))]);
    world.set_script(script).map_err(|error| error.to_string())?;
    let mut levels = [[None; 16]; PORTS];
    let (mut changes, mut log) = (0, 0);
    for millisecond in 1..=milliseconds {
        world.run_until(millisecond * MILLISECOND);
        let board = &mut world.boards_mut()[0];
        log += board.take_log().iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
        for (port, pins) in levels.iter_mut().enumerate() {
            for (pin, level) in (0..).zip(pins) {
                let now = board.output(port, pin);
                changes += u64::from(level.is_some() && now.is_some() && *level != now);
                *level = now;
            }
        }
    }
    let board = &world.boards()[0];
    let sent: u64 = (0..hopwise_emulator::chip::UARTS)
        .map(|uart| board.traffic(uart).sent)
        .sum();
    let unmodeled: Vec<&str> = board.remarks().iter().map(|remark| remark.what.as_str()).collect();
    let broken = board.violations().iter();
    let broken: Vec<String> = broken
        .map(|broken| format!("{}: {}", broken.rule.name(), broken.how))
        .collect();
    let fault = board.faults().first().map(ToString::to_string);
    let fault = fault.map(|fault| fault.lines().next().unwrap_or_default().to_string());
    Ok(format!(
        "{{\"instructions\":{},\"log_bytes\":{log},\"pin_changes\":{changes},\"bytes_sent\":{sent},\"resets\":{},\"fault\":{},\"unmodeled\":{},\
         \"violations\":{}}}",
        board.cpu.instructions,
        board.resets(),
        fault.map_or("null".into(), |fault| quoted(&fault)),
        list(unmodeled.into_iter()),
        list(broken.iter().map(String::as_str)),
    ))
}

/// A board with what is wired to it besides.
fn wired(kind: &'static BoardKind, image: &Arc<Image>, wires: &[String]) -> Result<Board, String> {
    let (mut ports, mut targets) = (kind.ports.to_vec(), Vec::new());
    for wire in wires {
        let wrong = || format!("'{wire}' is neither PORT=TX,RX nor PORT=ADDRESS");
        let (port, place) = wire.split_once('=').ok_or_else(wrong)?;
        if let Some((tx, rx)) = place.split_once(',') {
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
        ..*kind
    }));
    let mut board = Board::new(image, BoardOptions::of(kind));
    let contents: Vec<u8> = (0..=255).collect();
    for (port, address) in targets {
        if !board.attach_i2c(port, address, Box::new(I2cMemory::new(256).with(&contents))) {
            return Err(format!("the chip has no {port}"));
        }
    }
    Ok(board)
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

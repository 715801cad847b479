//! One board: a chip with its clock, its log and what is soldered to it.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::boards::{BOARDS, BoardKind};
use crate::chip::clocks::{Hse, Source};
use crate::chip::i2c::I2cTarget;
use crate::chip::map::MapEntry;
use crate::chip::pins::Pin;
use crate::chip::rules::Violation;
use crate::chip::rx_pin::Noise;
use crate::chip::usart::UartCounters;
use crate::chip::wave::Wave;
use crate::chip::{CannotAdd, Chip, Individual, Peripheral, Remark, ResetCause, UARTS};
use crate::cpu::fault::FaultReport;
use crate::cpu::{Cpu, Cycles, NEVER, Sleep, Stop};
use crate::hash::{StateHash, mix};
use crate::image::Image;
use crate::memory::{Memory, MemorySizes, NotFlash};
use crate::rtt::Rtt;
use crate::time::{BoardClock, Time};

use super::supply::{PowerCut, Supply};

/// A host and a board understand each other if their rates differ by less than this part of them: 3%.
const HOST_TOLERANCE: u32 = 33;

/// What differs between boards of one kind.
#[derive(Clone, Copy, Debug)]
pub struct BoardOptions {
    /// The kind of board, which decides chip, crystal and pins.
    pub kind: &'static BoardKind,
    /// What is at the HSE pins.
    pub hse: Hse,
    /// Microseconds from when that is switched on until it runs: a crystal takes [`Hse::CRYSTAL_STARTS`], a clock that is fed is there.
    pub hse_start: u32,
    /// Whether there is a crystal of 32 kHz.
    pub lse: bool,
    /// By how many parts in a million the external clock is too fast, or the crystal of 32 kHz that takes its place.
    pub hse_ppm: f64,
    /// By how many parts in a million the internal oscillator is too fast.
    pub hsi_ppm: f64,
    /// The clock of the watchdog in Hz: 17,000 to 47,000.
    pub lsi: u32,
    /// How far the times of the flash are from typical to longest, in percent.
    pub flash_wear: u32,
    /// Bytes of RAM, if not as many as the chip has: another of its kind has more.
    pub ram: Option<usize>,
    /// The option DBANK of the G4: whether its flash is two banks, as it is delivered.
    pub dual_bank: bool,
    /// When the board is powered.
    pub start: Time,
    /// The number that is unique to the chip.
    pub unique_id: [u32; 3],
}

impl Default for BoardOptions {
    fn default() -> Self {
        BoardOptions::of(BOARDS[0])
    }
}

impl BoardOptions {
    /// A board of a kind with exact clocks.
    pub const fn of(kind: &'static BoardKind) -> Self {
        BoardOptions {
            kind,
            hse: kind.hse,
            hse_start: kind.hse.typical_start(),
            lse: true,
            hse_ppm: 0.0,
            hsi_ppm: 0.0,
            lsi: 32_000,
            flash_wear: 0,
            ram: None,
            dual_bank: true,
            start: 0,
            unique_id: [0x0030_0041, 0x3437_5109, 0x3532_3831],
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Intervention {
    Reset,
    Brownout(Time),
    Off {
        seed: u64,
    },
    On,
    Button(bool),
    Noise {
        uart: usize,
        noise: Option<(u32, u64, Time, u32)>,
    },
}

/// A board with its chip, its clock, its power and its debug probe.
pub struct Board {
    /// The core, with the chip as its bus.
    pub cpu: Cpu<Chip>,
    pub(super) supply: Supply,
    pub(super) last_power_cut: Option<PowerCut>,
    options: BoardOptions,
    clock: BoardClock,
    rtt: Option<Rtt>,
    /// What came out of the log channel: when, and the bytes.
    log: Vec<(Time, Vec<u8>)>,
    /// How often the probe reads it, and when it did last.
    log_interval: Option<Time>,
    log_read: Time,
    log_hash: StateHash,
    resets: u64,
    /// When the last byte fed from the host will have been received, for each port.
    fed_until: [Cycles; UARTS],
    /// The rate of the host at each port, in baud, if it has one of its own.
    host_baud: [Option<u32>; UARTS],
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Horizon {
    pub(crate) wake: Time,
    /// How soon after an edge on a wire it can notice that.
    pub(crate) reaction: Time,
    /// When it will decide that a line is idle, for each that it waits for.
    pub(crate) idle: [Time; UARTS],
    pub(crate) first_idle: Time,
}

impl Horizon {
    /// Something is on its way to the board, which does nothing about it before it can notice it.
    pub(crate) fn hears(&mut self, uart: usize, wave: Wave) {
        if wave.at <= self.idle[uart] && !wave.begins_high() {
            // The line is not idle then.
            self.idle[uart] = Time::MAX;
            self.first_idle = self.idle.iter().copied().fold(Time::MAX, Time::min);
        }
        let noticed = if self.reaction == Time::MAX {
            wave.at
        } else {
            wave.at + self.reaction
        };
        self.wake = self.wake.min(noticed);
    }
}

impl Board {
    /// A board that has just been powered, with `image` in its flash.
    pub fn new(image: &Arc<Image>, options: BoardOptions) -> Self {
        let description = options.kind.model.description();
        let sizes = MemorySizes {
            sram: options.ram.unwrap_or(description.memory.sram),
            ..description.memory
        };
        let mut memory = Memory::new(sizes, image.clone());
        let [a, b, c] = options.unique_id.map(u64::from);
        memory.scramble(mix(a << 32 | b) ^ mix(c ^ options.start));
        let individual = Individual {
            unique_id: options.unique_id,
            hse: options.hse,
            hse_start: options.hse_start,
            lse: options.lse,
            lsi: options.lsi,
            flash_wear: options.flash_wear,
            dual_bank: options.dual_bank,
        };
        let chip = Chip::new(description, options.kind.ports, individual);
        let clock = BoardClock::new(options.start, chip.clocks().hclk, options.hsi_ppm);
        let rtt = image.address_of("_SEGGER_RTT").map(Rtt::new);
        let mut board = Board {
            cpu: Cpu::new(memory, chip),
            supply: Supply::default(),
            last_power_cut: None,
            options,
            clock,
            rtt,
            log: Vec::new(),
            log_interval: Some(0),
            log_read: 0,
            log_hash: StateHash::default(),
            resets: 0,
            fed_until: [0; UARTS],
            host_baud: [None; UARTS],
        };
        board.press(false);
        // The probe of a board has one of them.
        board.wire(board.options.kind.host());
        board.start_in_ram(image);
        board
    }

    /// Loads and starts a program that runs from RAM, as a debug probe does. Its next reset finds an empty flash.
    fn start_in_ram(&mut self, image: &Image) {
        for (address, bytes) in image.ram() {
            for (place, byte) in (*address..).zip(bytes) {
                if let Some(in_ram) = self.cpu.memory.ram_byte_mut(place) {
                    *in_ram = *byte;
                }
            }
        }
        if let Some((vectors, _)) = image.ram().first() {
            self.cpu.start_at(*vectors);
        }
    }

    /// Adds a peripheral to the chip; see [`Chip::add`]. A thermometer that shows one degree more at each look, and a
    /// program that looks at it twice:
    ///
    /// ```
    /// use std::sync::Arc;
    /// use hopwise_emulator::chip::Peripheral;
    /// use hopwise_emulator::chip::map::MapEntry;
    /// use hopwise_emulator::cpu::Cycles;
    /// use hopwise_emulator::image::Image;
    /// use hopwise_emulator::time::MICROSECOND;
    /// use hopwise_emulator::world::{Board, BoardOptions, World};
    ///
    /// #[derive(Hash)]
    /// struct Thermometer {
    ///     degrees: u32,
    /// }
    ///
    /// impl Peripheral for Thermometer {
    ///     fn read(&mut self, offset: u32, _now: Cycles) -> u32 {
    ///         match offset {
    ///             0 => {
    ///                 self.degrees += 1;
    ///                 self.degrees
    ///             }
    ///             _ => 0,
    ///         }
    ///     }
    ///
    ///     fn write(&mut self, _offset: u32, _value: u32, _now: Cycles) {}
    /// }
    ///
    /// // Stack pointer, reset handler; ldr r1, =0x60000000; ldr r0, [r1]; ldr r2, [r1]; and a branch to itself.
    /// let program: [u16; 10] = [
    ///     0x1000, 0x2000, 0x0009, 0x0800, 0x4901, 0x6808, 0x680a, 0xe7fe, 0x0000, 0x6000,
    /// ];
    /// let flash = program.iter().flat_map(|half| half.to_le_bytes()).collect();
    /// let mut board = Board::new(&Arc::new(Image::from_bytes(flash)), BoardOptions::default());
    /// let entry = MapEntry::unmodeled(0x6000_0000, 8, "thermometer");
    /// board.add_peripheral(entry, Box::new(Thermometer { degrees: 20 }))?;
    ///
    /// let mut world = World::new(1);
    /// world.add(board);
    /// world.run_until(10 * MICROSECOND);
    /// let board = &world.boards()[0];
    /// assert_eq!((board.cpu.r[0], board.cpu.r[2]), (21, 22));
    /// assert!(board.faults().is_empty());
    /// # Ok::<(), hopwise_emulator::chip::CannotAdd>(())
    /// ```
    pub fn add_peripheral(&mut self, entry: MapEntry, peripheral: Box<dyn Peripheral>) -> Result<(), CannotAdd> {
        self.cpu.bus.add(entry, peripheral)
    }

    /// Puts something at the wires of an I2C port, such as `"I2C1"`, with an address of 7 bits: an
    /// [`I2cMemory`](crate::chip::i2c::I2cMemory), or an [`I2cTarget`] of your own. Says whether the chip has the port.
    pub fn attach_i2c(&mut self, port: &str, address: u8, target: Box<dyn I2cTarget>) -> bool {
        self.cpu.bus.attach_i2c(port, address, target)
    }

    /// Joins two pins by a wire.
    pub fn join_pins(&mut self, a: Pin, b: Pin) {
        self.cpu.bus.join_pins(a, b);
    }

    /// A cable is plugged into a serial port.
    pub(crate) fn wire(&mut self, uart: usize) {
        self.cpu.bus.wire(uart);
    }

    /// Which kind of board it is.
    pub fn kind(&self) -> &'static BoardKind {
        self.options.kind
    }

    fn press(&mut self, pressed: bool) {
        let BoardKind {
            button, pressed_high, ..
        } = self.options.kind;
        let level = pressed == *pressed_high;
        self.cpu.bus.drive_pin(button.port, button.number, Some(level));
    }

    /// Writes to the flash as a debug probe does, before the board runs.
    pub fn write_flash(&mut self, address: u32, bytes: &[u8]) -> Result<(), NotFlash> {
        self.cpu.memory.write_flash(address, bytes)?;
        self.cpu.reset();
        Ok(())
    }

    /// Makes some of the flash as if a reset had cut off its programming: reading it is an error that the flash cannot correct.
    pub fn tear_flash(&mut self, place: std::ops::Range<u32>) {
        self.cpu.memory.tear(place);
    }

    /// Runs up to a time, or a few cycles more.
    pub(crate) fn run_until(&mut self, time: Time) {
        loop {
            match self.cpu.run_until(self.clock.cycles_at(time)) {
                Stop::Time => break,
                Stop::Reset => self.reset(self.own_cause()),
                Stop::Clock => self.adapt_clock(),
            }
        }
        self.read_log();
    }

    /// One instruction, for a debugger.
    pub fn step(&mut self) {
        self.cpu.step();
        if self.cpu.asked_for_reset() || self.cpu.bus.watchdog_expired() {
            self.reset(self.own_cause());
        }
        self.adapt_clock();
        self.read_log();
    }

    fn adapt_clock(&mut self) {
        self.cpu.bus.acknowledge_clocks();
        let clocks = self.cpu.bus.clocks();
        let ppm = match clocks.source {
            Source::Internal => self.options.hsi_ppm,
            Source::External => self.options.hse_ppm,
        };
        self.clock.change(self.cpu.now, clocks.hclk, ppm);
    }

    fn own_cause(&self) -> ResetCause {
        if self.cpu.bus.watchdog_expired() {
            ResetCause::Watchdog
        } else {
            ResetCause::Software
        }
    }

    /// System reset. RAM stays as it is.
    fn reset(&mut self, cause: ResetCause) {
        self.read_log();
        self.stop(cause);
        if !self.supply.catches_resets {
            self.cpu.resume();
        }
        self.resets += 1;
    }

    /// Everything is as after a reset, and the core is halted.
    pub(super) fn stop(&mut self, cause: ResetCause) {
        self.cpu.bus.reset(cause, self.cpu.now);
        self.cpu.memory.lose_unwritten();
        if let Some(place) = self.cpu.bus.take_torn() {
            self.cpu.memory.tear(place);
        }
        self.cpu.reset();
        self.cpu.halt();
        self.adapt_clock();
        if let Some(rtt) = &mut self.rtt {
            rtt.detach();
        }
    }

    /// How often the debug probe reads the log; never if there is none. All the time unless this is called.
    pub fn read_log_every(&mut self, interval: Option<Time>) {
        self.log_interval = interval;
    }

    /// A debug probe takes what is in the log whose control block is at an address.
    pub fn read_log_at(&mut self, block: u32) -> Option<Vec<u8>> {
        Rtt::new(block).read(&mut self.cpu.memory)
    }

    fn read_log(&mut self) {
        let due = self.log_interval.map(|interval| self.log_read.saturating_add(interval));
        if !self.supply.is_on || due.is_none_or(|due| due > self.now()) {
            return;
        }
        self.log_read = self.now();
        if let Some(bytes) = self.rtt.as_mut().and_then(|rtt| rtt.read(&mut self.cpu.memory)) {
            self.log_hash.write(&bytes);
            self.log.push((self.now(), bytes));
        }
    }

    /// How far it has run.
    pub fn now(&self) -> Time {
        self.clock.time_of(self.cpu.now)
    }

    /// Whether it waits for an interrupt or event.
    pub fn is_asleep(&self) -> bool {
        self.cpu.sleep != Sleep::Awake
    }

    /// When it has something to do next, as far as it knows; the end of time if only a wire can wake it.
    pub fn wakes_at(&self) -> Time {
        match self.cpu.next_activity() {
            NEVER => Time::MAX,
            cycles => self.clock.time_of(cycles),
        }
    }

    /// When a cycle of this board is.
    pub fn time_of(&self, cycles: Cycles) -> Time {
        self.clock.time_of(cycles)
    }

    /// The log since the last call: when, and the bytes of the channel.
    pub fn take_log(&mut self) -> Vec<(Time, Vec<u8>)> {
        std::mem::take(&mut self.log)
    }

    /// Resets since power-on.
    pub fn resets(&self) -> u64 {
        self.resets
    }

    /// The faults that are kept in full.
    pub fn faults(&self) -> &[FaultReport] {
        &self.cpu.faults
    }

    /// What the firmware did that is not modeled.
    pub fn remarks(&self) -> &[Remark] {
        self.cpu.bus.remarks()
    }

    /// The rules of the manuals that the firmware has broken.
    pub fn violations(&self) -> &[Violation] {
        self.cpu.bus.violations()
    }

    /// What has passed through a serial port.
    pub fn traffic(&self, uart: usize) -> UartCounters {
        self.cpu.bus.uart(uart).map(|port| port.counters()).unwrap_or_default()
    }

    /// The rate of a serial port that is on, in baud.
    pub fn baud(&self, uart: usize) -> Option<u32> {
        let bit = self.cpu.bus.uart(uart)?.bit_time();
        let rate = self.cpu.bus.clocks().hclk.checked_div(bit)?;
        u32::try_from(rate).ok()
    }

    /// The level of an output pin; ports are numbered from A.
    pub fn output(&self, port: usize, pin: u32) -> Option<bool> {
        self.cpu.bus.output(port, pin)
    }

    /// The little-endian words of a variable of the firmware.
    pub fn variable(&self, name: &str, words: usize) -> Option<Vec<u32>> {
        let address = self.cpu.memory.image().address_of(name)?;
        let words = (0..words as u32).map(|word| self.cpu.memory.word(address.checked_add(word * 4)?));
        words.collect()
    }

    /// Counts the executions of every instruction from now on.
    pub fn start_profile(&mut self) {
        self.cpu.start_profile();
    }

    pub(crate) fn intervene(&mut self, intervention: Intervention) {
        match intervention {
            Intervention::Reset if !self.supply.is_on => {}
            Intervention::Reset => self.reset(ResetCause::Pin),
            Intervention::Brownout(within) => self.let_supply_fall(within),
            Intervention::Off { seed } => self.cut_power(seed),
            Intervention::On => self.restore_power(),
            Intervention::Button(pressed) => self.press(pressed),
            Intervention::Noise { uart, noise } => {
                let clock = self.clock;
                let hclk = self.cpu.bus.clocks().hclk;
                let noise = noise.map(|(chance, seed, until, above)| Noise {
                    chance,
                    seed,
                    until: clock.cycles_at(until),
                    shorter_than: hclk.checked_div(above.into()).unwrap_or(Cycles::MAX),
                });
                if let Some(port) = self.cpu.bus.uart_mut(uart) {
                    port.set_noise(noise);
                }
            }
        }
    }

    pub(crate) fn hear(&mut self, uart: usize, waves: impl Iterator<Item = Wave>) {
        let clock = self.clock;
        let waves = waves.map(|wave| wave.converted(|at| clock.cycles_at(at), |length| clock.length_of(length)));
        let due = self.cpu.bus.hear(uart, waves, self.cpu.now);
        self.cpu.look_by(due);
    }

    /// What a serial port has put out since the last call.
    pub(crate) fn take_output(&mut self, uart: usize) -> impl Iterator<Item = Wave> {
        let clock = self.clock;
        let waves = self.cpu.bus.take_output(uart).into_iter().flatten();
        waves.map(move |wave| wave.converted(|at| clock.time_of(at), |length| clock.duration(length)))
    }

    /// Connects a port to the host: its bytes are kept for [`take_bytes`](Self::take_bytes).
    pub fn connect_host(&mut self, uart: usize) {
        if let Some(port) = self.cpu.bus.uart_mut(uart) {
            port.keep_bytes();
        }
    }

    /// The host at a port has this rate from now on, and hears nothing from a board that has another. Before, it has that of the board.
    pub fn set_host_baud(&mut self, uart: usize, baud: u32) {
        self.host_baud[uart] = Some(baud);
    }

    /// The host's rate at a port, unless the board's is so near that both understand each other.
    fn other_host_baud(&self, uart: usize) -> Option<u32> {
        let (wanted, own) = (self.host_baud[uart]?, self.baud(uart)?);
        (wanted.abs_diff(own) > wanted / HOST_TOLERANCE).then_some(wanted)
    }

    /// The bytes that a port connected to the host has sent since the last call.
    pub fn take_bytes(&mut self, uart: usize) -> Vec<u8> {
        let port = self.cpu.bus.uart_mut(uart);
        let bytes = port.map(|port| port.take_bytes()).unwrap_or_default();
        // None has its stop bit where the host looks for it.
        if self.other_host_baud(uart).is_some() {
            Vec::new()
        } else {
            bytes
        }
    }

    /// Sends bytes to a port at the rate of the host, one after the other.
    pub fn feed(&mut self, uart: usize, bytes: &[u8]) {
        let mut at = self.fed_until[uart].max(self.cpu.now);
        let hclk = self.cpu.bus.clocks().hclk;
        let of_host = self.other_host_baud(uart).map(|baud| hclk / Cycles::from(baud));
        let Some(port) = self.cpu.bus.uart_mut(uart) else {
            return;
        };
        let bit = of_host.unwrap_or(port.bit_time());
        for byte in bytes {
            port.hear(Wave::frame(at, bit, u16::from(*byte) << 1 | 1 << 9, 10));
            at += bit * 10;
        }
        self.fed_until[uart] = at;
        self.cpu.look_by(0);
    }

    /// Whether bytes given to [`feed`](Self::feed) are still on their way.
    pub fn is_being_fed(&self, uart: usize) -> bool {
        self.fed_until[uart] > self.cpu.now
    }

    pub(crate) fn horizon(&self, connected: &[bool; UARTS]) -> Horizon {
        let clock = self.clock;
        let time = |cycles: Cycles| {
            if cycles == NEVER {
                Time::MAX
            } else {
                clock.time_of(cycles)
            }
        };
        let mut horizon = Horizon {
            wake: time(self.cpu.next_activity()),
            reaction: Time::MAX,
            idle: [Time::MAX; UARTS],
            first_idle: Time::MAX,
        };
        for uart in (0..UARTS).filter(|uart| connected[*uart]) {
            let Some(port) = self.cpu.bus.uart(uart) else { continue };
            let reaction = port.reaction_time().map_or(Time::MAX, |cycles| clock.duration(cycles));
            horizon.reaction = horizon.reaction.min(reaction);
            horizon.idle[uart] = port.idle_decision().map_or(Time::MAX, time);
            horizon.first_idle = horizon.first_idle.min(horizon.idle[uart]);
        }
        horizon
    }

    /// A hash of everything that decides what the board will do, and of its log.
    pub fn state_hash(&self) -> u64 {
        let mut hash = StateHash::default();
        (&self.cpu, self.clock, self.rtt, self.fed_until).hash(&mut hash);
        (self.log_hash.finish(), self.resets, self.supply).hash(&mut hash);
        hash.finish()
    }
}

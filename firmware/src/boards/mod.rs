//! The boards: what each has comes from its file in `boards/`, what chips of a family have in common is in `family_*.rs`.

#[cfg_attr(chip_f4, path = "family_f4.rs")]
#[cfg_attr(chip_g4, path = "family_g4.rs")]
#[cfg_attr(chip_h7, path = "family_h7.rs")]
#[cfg_attr(chip_l4, path = "family_l4.rs")]
mod family;

/// The board that is compiled for, as `hopwise_boards::firmware` writes it.
mod chosen {
    use super::board;

    include!(concat!(env!("OUT_DIR"), "/board.rs"));
    describe!();
}

pub(crate) use chosen::{LINKS, NAME, open};

use embassy_stm32::flash::{Blocking, Flash};
use embassy_stm32::gpio::{AfType, Flex, Input, Output, OutputType, Pull, Speed};
use embassy_stm32::pac::iwdg::vals::{Key, Pr};
use embassy_stm32::rcc::{AHBPrescaler, APBPrescaler, PllMul, PllPreDiv};
#[cfg(not(chip_l4))]
use embassy_stm32::rcc::{Hse, HseMode, Sysclk};
#[cfg(not(chip_l4))]
use embassy_stm32::time::Hertz;
use embassy_stm32::{Peri, Peripherals, pac, peripherals};

use hopwise_node::capacities::Sizes;
use hopwise_node::wire::{UartClock, rates_agree};

use crate::uart::SerialPort;
use chosen::CLOCK;

/// The serial ports: the links to neighbors, and the one to the host.
pub(crate) const PORTS: usize = LINKS + 1;

hopwise_node::capacities! {
    /// What the node on this board has room for.
    pub(crate) struct NodeSizes { links: PORTS, ..Sizes::BOARD }
}

/// What the rest of the firmware uses of a board.
pub(crate) struct Board {
    /// The links in the order of their numbers, then the ST-LINK's port.
    pub(crate) ports: [SerialPort; PORTS],
    pub(crate) led: Output<'static>,
    pub(crate) button: Input<'static>,
    /// The level of the button's pin when pressed.
    pub(crate) pressed_high: bool,
    /// `None` if it is not laid out as embassy expects.
    pub(crate) flash: Option<Flash<'static, Blocking>>,
}

/// A board that hangs for this long is reset, by a clock that may be half as fast again: at 32 kHz, 32 cycles take a millisecond. Erasing the
/// largest sector of the slowest flash takes up to two seconds.
const WATCHDOG_MILLIS: u16 = 4_000;

/// Milliseconds that are waited for the supply at a start, and a millisecond in cycles of the fastest board.
const SUPPLY_RISES: u32 = 200;
const MILLISECOND: u32 = 400_000;

/// Where the clocks come from, and what is made of that.
struct Clock {
    /// Whether it is fed into the HSE pin; otherwise it is a crystal's, or the chip's own.
    #[cfg_attr(chip_l4, expect(dead_code, reason = "these do not use the HSE pins"))]
    fed: bool,
    #[cfg_attr(chip_l4, expect(dead_code, reason = "as above"))]
    hertz: u32,
    /// That divided by `prediv`.
    pll_input: u32,
    prediv: PllPreDiv,
    mul: PllMul,
    div: family::PllDiv,
    ahb: AHBPrescaler,
    apb1: APBPrescaler,
    apb2: APBPrescaler,
}

/// Divides the core's clock for the buses.
fn divide(rcc: &mut embassy_stm32::rcc::Config) {
    rcc.ahb_pre = CLOCK.ahb;
    rcc.apb1_pre = CLOCK.apb1;
    rcc.apb2_pre = CLOCK.apb2;
}

/// Starts the clocks and what depends on them.
pub(crate) fn start() -> Peripherals {
    let peripherals = family::start();
    // embassy has switched off what did not run.
    #[cfg(not(chip_l4))]
    if family::is_clocked_from_inside() {
        switch_on_hse();
    }
    watch_supply();
    // It may still be rising. What is wrong for longer is said by whoever writes to the flash.
    for _ in 0..SUPPLY_RISES {
        if !is_supply_low() {
            break;
        }
        cortex_m::asm::delay(MILLISECOND);
    }
    family::accelerate();
    peripherals
}

/// Changes over to the external clock if that has come after all: from an ST-LINK whose USB was plugged in late. Both clocks are divided to the
/// same, so all rates stay. While the PLL starts again they do not: a frame may be damaged, and embassy's clock loses some 0.2 ms.
#[cfg(not(chip_l4))]
pub(crate) fn switch_to_external_clock() {
    if !family::is_clocked_from_inside() || !pac::RCC.cr().read().hserdy() {
        return;
    }
    cortex_m::interrupt::free(|_| {
        switch(Sysclk::HSI);
        enable_pll(false);
        family::feed_pll_from_hse();
        enable_pll(true);
        switch(family::FULL_SPEED);
    });
    defmt::info!("the external clock has come, and is used");
}

/// Has the system run from a clock that is ready. Between a slow one and one above 80 MHz a G4 needs a microsecond at half of that.
#[cfg(not(chip_l4))]
fn switch(clock: Sysclk) {
    #[cfg(chip_g4)]
    pac::RCC.cfgr().modify(|w| w.set_hpre(AHBPrescaler::DIV2));
    pac::RCC.cfgr().modify(|w| w.set_sw(clock));
    while pac::RCC.cfgr().read().sws() != clock {}
    #[cfg(chip_g4)]
    {
        cortex_m::asm::delay(170);
        pac::RCC.cfgr().modify(|w| w.set_hpre(CLOCK.ahb));
    }
}

#[cfg(any(chip_f4, chip_g4))]
fn enable_pll(on: bool) {
    pac::RCC.cr().modify(|w| w.set_pllon(on));
    while pac::RCC.cr().read().pllrdy() != on {}
}

#[cfg(chip_h7)]
fn enable_pll(on: bool) {
    pac::RCC.cr().modify(|w| w.set_pllon(0, on));
    while pac::RCC.cr().read().pllrdy(0) != on {}
}

/// Has the PVD watch the supply.
fn watch_supply() {
    #[cfg(any(chip_f4, chip_h7))]
    let control = pac::PWR.cr1();
    #[cfg(any(chip_g4, chip_l4))]
    let control = pac::PWR.cr2();
    control.modify(|w| w.set_pls(family::PVD_LEVEL));
    control.modify(|w| w.set_pvde(true));
}

/// Whether the supply is below the PVD's level.
fn is_supply_low() -> bool {
    #[cfg(any(chip_f4, chip_h7))]
    let status = pac::PWR.csr1();
    #[cfg(any(chip_g4, chip_l4))]
    let status = pac::PWR.sr2();
    status.read().pvdo()
}

/// Starts the watchdog.
pub(crate) fn start_watchdog() {
    family::WATCHDOG.kr().write(|w| w.set_key(Key::ENABLE));
    family::WATCHDOG.pr().write(|w| w.set_pr(Pr::DIVIDE_BY32));
    family::WATCHDOG.rlr().write(|w| w.set_rl(WATCHDOG_MILLIS - 1));
    family::WATCHDOG.kr().write(|w| w.set_key(Key::START));
}

pub(crate) fn feed_watchdog() {
    family::WATCHDOG.kr().write(|w| w.set_key(Key::RESET));
}

/// What a person should know about this board, if anything.
pub(crate) fn complaint() -> Option<&'static str> {
    if family::is_clocked_from_inside() {
        Some("no external clock: the internal one is less exact")
    } else if has_unknown_banks() {
        Some("option DBANK is 0: the configuration cannot be written")
    } else {
        None
    }
}

pub(crate) fn can_run_at(port: u8, baud: u32) -> bool {
    clock(port).is_some_and(|clock| rates_agree([clock], baud))
}

pub(crate) fn clock(port: u8) -> Option<UartClock> {
    chosen::CLOCKS.get(usize::from(port)).copied()
}

/// Does something that erases or writes the flash. The data cache is off meanwhile and forgets what it knew. `None`, with nothing done, while the
/// supply is below what writing takes: it may be falling for good.
pub(crate) fn change_flash<R>(change: impl FnOnce() -> R) -> Option<R> {
    if is_supply_low() {
        defmt::error!("the supply is too low for the flash to be written");
        return None;
    }
    #[cfg(any(chip_f4, chip_h7))]
    family::widen_erase();
    // That of the H7 is in its core, and off.
    #[cfg(not(chip_h7))]
    pac::FLASH.acr().modify(|w| w.set_dcen(false));
    #[cfg(chip_f4)]
    let result = family::standing_still(change);
    #[cfg(not(chip_f4))]
    let result = change();
    #[cfg(not(chip_h7))]
    {
        pac::FLASH.acr().modify(|w| w.set_dcrst(true));
        pac::FLASH.acr().modify(|w| w.set_dcrst(false));
        pac::FLASH.acr().modify(|w| w.set_dcen(true));
    }
    Some(result)
}

/// What unlocks the controller of the flash.
#[cfg(any(chip_f4, chip_h7))]
const FLASH_KEYS: [u32; 2] = [0x4567_0123, 0xcdef_89ab];

/// Resets the chip, once what was last written to RAM is there.
pub(crate) fn reset() -> ! {
    #[cfg(chip_h7)]
    family::settle_ram();
    cortex_m::peripheral::SCB::sys_reset()
}

/// Reads what a reset may have torn in the flash: wrong bytes are read then, and a checksum tells so. L4 and G4 raise an NMI besides,
/// which `crash` handles.
#[cfg(not(chip_h7))]
pub(crate) fn read_torn(read: impl FnOnce()) {
    read();
}

#[cfg(chip_h7)]
pub(crate) use family::read_torn;

/// Looks so often whether an oscillator runs: at least 50 ms at the 16 MHz that chips begin with, and where they begin
/// with 64 MHz, at least 12.
const LOOKS: u32 = 100_000;

/// The HSE, if it runs. embassy would wait for it for ever.
#[cfg(not(chip_l4))]
fn hse() -> Option<Hse> {
    switch_on_hse();
    let runs = (0..LOOKS).any(|_| pac::RCC.cr().read().hserdy());
    if !runs {
        pac::RCC.cr().modify(|w| w.set_hseon(false));
    }
    runs.then_some(Hse {
        freq: Hertz(CLOCK.hertz),
        mode: if CLOCK.fed {
            HseMode::Bypass
        } else {
            HseMode::Oscillator
        },
    })
}

#[cfg(not(chip_l4))]
fn switch_on_hse() {
    pac::RCC.cr().modify(|w| w.set_hsebyp(CLOCK.fed));
    pac::RCC.cr().modify(|w| w.set_hseon(true));
}

/// Whether the flash is divided otherwise than embassy was told: it would panic.
fn has_unknown_banks() -> bool {
    #[cfg(chip_g4)]
    let unknown = !pac::FLASH.optr().read().dbank();
    #[cfg(not(chip_g4))]
    let unknown = false;
    unknown
}

/// The flash, to be changed, if it is laid out as embassy expects.
pub(crate) fn flash(peripheral: Peri<'_, peripherals::FLASH>) -> Option<Flash<'_, Blocking>> {
    (!has_unknown_banks()).then(|| Flash::new_blocking(peripheral))
}

/// Why a board started, by the numbers of [`BoardInfo::reset_cause`](hopwise_node::wire::BoardInfo::reset_cause).
#[derive(Clone, Copy, defmt::Format)]
#[repr(u8)]
pub(crate) enum ResetCause {
    Unknown,
    Power,
    ResetPin,
    Software,
    Watchdog,
    LowPower,
}

struct ResetFlags {
    watchdog: bool,
    low_power: bool,
    software: bool,
    power: bool,
    pin: bool,
}

#[cfg(not(any(chip_g4, chip_l4)))]
use family::reset_flags;

/// Why the board started, and clears that.
#[cfg(any(chip_g4, chip_l4))]
fn reset_flags() -> ResetFlags {
    let flags = pac::RCC.csr().read();
    pac::RCC.csr().modify(|w| w.set_rmvf(true));
    ResetFlags {
        watchdog: flags.iwdgrstf() || flags.wwdgrstf(),
        low_power: flags.lpwrrstf(),
        software: flags.sftrstf(),
        power: flags.borrstf(),
        pin: flags.pinrstf(),
    }
}

/// Why the board started. To be called once: it clears the flags for the next start.
pub(crate) fn reset_cause() -> ResetCause {
    // Every reset also sets the flag of the reset pin, and some set that of a software reset.
    match reset_flags() {
        ResetFlags { watchdog: true, .. } => ResetCause::Watchdog,
        ResetFlags { low_power: true, .. } => ResetCause::LowPower,
        ResetFlags { software: true, .. } => ResetCause::Software,
        ResetFlags { power: true, .. } => ResetCause::Power,
        ResetFlags { pin: true, .. } => ResetCause::ResetPin,
        _ => ResetCause::Unknown,
    }
}

/// Makes a pin the input of a serial port, for good.
fn receive_at(mut pin: Flex<'static>, function: u8) {
    // Pulled up, so that an unplugged cable is quiet.
    pin.set_as_af_unchecked(function, AfType::input(Pull::Up));
    // Dropping it would disconnect the pin.
    core::mem::forget(pin);
}

/// Makes a pin the output of a serial port, for good.
fn send_at(mut pin: Flex<'static>, function: u8) {
    pin.set_as_af_unchecked(function, AfType::output(OutputType::PushPull, Speed::Medium));
    core::mem::forget(pin);
}

/// Writes a board: its constants, its interrupts, and `open`.
///
/// ```text
/// board! {
///     name: "nucleo-f446re",
///     ports: {
///         USART1: clock 90000000 false, tx PA9 DMA2_CH7 DMA2_STREAM7 DMA2 7, rx PA10 DMA2_CH5 DMA2_STREAM5 DMA2 5;
///         ..            its clock in Hz, whether it is an LPUART; each pin with its DMA channel, the channel's interrupt, controller and number
///         USART2: clock 45000000 false, tx PA2 DMA1_CH6 DMA1_STREAM6 DMA1 6, rx PA3 DMA1_CH5 DMA1_STREAM5 DMA1 5;   the last is the ST-LINK's
///     },
///     led: PA5,
///     button: PC13,
///     pressed_high: false,
///     clock: { fed: true, hertz: 8000000, pll_input: 2000000, prediv: DIV4, mul: MUL180, div: DIV2, ahb: DIV1, apb1: DIV4, apb2: DIV2 },
/// }
/// ```
///
/// A button that pulls its pin low has a resistor, the chip's own if there is no other: a board without a
/// button is as if it were not pressed.
macro_rules! board {
    (
        name: $name:literal,
        ports: {$(
            $uart:ident: clock $uart_clock:literal $low_power:literal,
                tx $tx:ident $tx_dma:ident $tx_interrupt:ident $tx_controller:ident $tx_number:literal,
                rx $rx:ident $rx_dma:ident $rx_interrupt:ident $rx_controller:ident $rx_number:literal;
        )*},
        led: $led:ident,
        button: $button:ident,
        pressed_high: $pressed_high:literal,
        clock: {
            fed: $fed:literal, hertz: $hertz:literal, pll_input: $pll_input:literal,
            prediv: $prediv:ident, mul: $mul:ident, div: $div:ident, ahb: $ahb:ident, apb1: $apb1:ident, apb2: $apb2:ident
        },
    ) => {
        pub(crate) const NAME: &str = $name;
        pub(crate) const LINKS: usize = [$(stringify!($uart)),*].len() - 1;
        pub(super) const CLOCKS: [super::UartClock; LINKS + 1] =
            [$(super::UartClock { hertz: $uart_clock, low_power: $low_power }),*];

        pub(super) const CLOCK: super::Clock = super::Clock {
            fed: $fed,
            hertz: $hertz,
            pll_input: $pll_input,
            prediv: embassy_stm32::rcc::PllPreDiv::$prediv,
            mul: embassy_stm32::rcc::PllMul::$mul,
            div: super::family::PllDiv::$div,
            ahb: embassy_stm32::rcc::AHBPrescaler::$ahb,
            apb1: embassy_stm32::rcc::APBPrescaler::$apb1,
            apb2: embassy_stm32::rcc::APBPrescaler::$apb2,
        };

        embassy_stm32::bind_interrupts!(struct Interrupts {
            $(
                $uart => crate::uart::IdleHandler<embassy_stm32::peripherals::$uart>;
                $tx_interrupt => crate::uart::SentHandler<embassy_stm32::peripherals::$uart>;
                $rx_interrupt => crate::uart::RingHandler<embassy_stm32::peripherals::$uart>;
            )*
        });

        $(
            super::port!($uart, tx $tx_controller $tx_number, rx $rx_controller $rx_number);

            super::unawaited!($tx_interrupt, $tx_dma);
            super::unawaited!($rx_interrupt, $rx_dma);
        )*

        /// Opens everything, ports 0, 1 ... at the rates that `baud` says; the second may be used later.
        pub(crate) fn open(p: embassy_stm32::Peripherals, baud: impl Fn(u8) -> (u32, u32)) -> super::Board {
            use embassy_stm32::gpio::{Input, Level, Output, Pull, Speed};
            let mut numbers = 0..;
            super::Board {
                ports: [$(super::serial_port!(
                    p, numbers.next().unwrap_or(0), baud, $uart, clock $uart_clock $low_power, tx $tx $tx_dma, rx $rx $rx_dma
                )),*],
                led: Output::new(p.$led, Level::Low, Speed::Low),
                button: Input::new(p.$button, if $pressed_high { Pull::None } else { Pull::Up }),
                pressed_high: $pressed_high,
                flash: super::flash(p.FLASH),
            }
        }
    };
}
use board;

/// Opens a serial port, with the board's `Interrupts`.
macro_rules! serial_port {
    (
        $p:ident, $number:expr, $baud:ident, $uart:ident, clock $clock:literal $low_power:literal,
        tx $tx:ident $tx_dma:ident, rx $rx:ident $rx_dma:ident
    ) => {{
        use embassy_stm32::dma::Channel;
        use embassy_stm32::peripherals::$uart;
        use static_cell::ConstStaticCell;
        const CLOCK: super::UartClock = super::UartClock {
            hertz: $clock,
            low_power: $low_power,
        };
        const RING_BYTES: usize = crate::uart::ring_bytes(CLOCK.fastest());
        static RING: ConstStaticCell<[u8; RING_BYTES]> = ConstStaticCell::new([0; RING_BYTES]);
        static FRAME: ConstStaticCell<[u8; hopwise_node::wire::WIRE]> =
            ConstStaticCell::new([0; hopwise_node::wire::WIRE]);
        let number = $number;
        let (baud, fastest) = $baud(number);
        let tx_request = embassy_stm32::usart::TxDma::<$uart>::request(&*$p.$tx_dma);
        let rx_request = embassy_stm32::usart::RxDma::<$uart>::request(&*$p.$rx_dma);
        let tx_channel = Channel::new($p.$tx_dma, Interrupts);
        let rx_channel = Channel::new($p.$rx_dma, Interrupts);
        let rx_function = embassy_stm32::usart::RxPin::<$uart>::af_num(&*$p.$rx);
        super::receive_at(embassy_stm32::gpio::Flex::new($p.$rx), rx_function);
        let tx_function = embassy_stm32::usart::TxPin::<$uart>::af_num(&*$p.$tx);
        super::send_at(embassy_stm32::gpio::Flex::new($p.$tx), tx_function);
        embassy_stm32::rcc::enable_and_reset::<$uart>();
        let parts = <$uart as crate::uart::Port>::parts();
        crate::uart::open(parts.registers, number, baud);
        // SAFETY: its handler is bound, and is ready to be called.
        unsafe {
            <embassy_stm32::interrupt::typelevel::$uart as embassy_stm32::interrupt::typelevel::Interrupt>::enable()
        };
        crate::uart::SerialPort {
            tx: crate::uart::Transmitter::start(parts, tx_channel, tx_request, FRAME.take()),
            rx: crate::uart::Receiver::start(parts, number, rx_channel, rx_request, RING.take(), fastest),
        }
    }};
}
use serial_port;

/// Has embassy take a DMA channel whose interrupt is not its own, but of `Interrupts`.
macro_rules! unawaited {
    ($interrupt:ident, $dma:ident) => {
        // SAFETY: embassy's handler serves transfers that are awaited, and those of serial ports are not.
        unsafe impl
            embassy_stm32::interrupt::typelevel::Binding<
                embassy_stm32::interrupt::typelevel::$interrupt,
                embassy_stm32::dma::InterruptHandler<embassy_stm32::peripherals::$dma>,
            > for Interrupts
        {
        }
    };
}
use unawaited;

/// Says where the registers of a serial port are, and what its interrupt handlers leave.
macro_rules! port {
    ($uart:ident, tx $tx_controller:ident $tx_number:literal, rx $rx_controller:ident $rx_number:literal) => {
        impl crate::uart::Port for embassy_stm32::peripherals::$uart {
            fn parts() -> crate::uart::PortParts {
                static NOTICED: crate::uart::Noticed = crate::uart::Noticed::new();
                // SAFETY: the registers used are the same in all kinds of serial ports.
                let registers =
                    unsafe { embassy_stm32::pac::usart::Usart::from_ptr(embassy_stm32::pac::$uart.as_ptr() as *mut _) };
                crate::uart::PortParts {
                    registers,
                    tx_dma: crate::uart::Dma::new(embassy_stm32::pac::$tx_controller, $tx_number),
                    rx_dma: crate::uart::Dma::new(embassy_stm32::pac::$rx_controller, $rx_number),
                    noticed: &NOTICED,
                }
            }
        }
    };
}
use port;

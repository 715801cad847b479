//! A board in a laboratory: a wire joins PA9 and PA10, where USART1 is too, and another PA7 and PA6, MOSI and MISO of SPI1. What has worked is in
//! [`WORKED`], a bit for each, in the order of `main`.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering};

use defmt::unwrap;
use defmt_rtt as _;
use embassy_executor::Spawner;
use embassy_futures::join::join;
use embassy_stm32::gpio::{Input, Level, Output, OutputOpenDrain, Pull, Speed};
use embassy_stm32::spi::{self, Spi};
use embassy_stm32::usart::{self, Uart};
use embassy_stm32::{bind_interrupts, dma, peripherals};
use embassy_time::{Instant, Timer};
use panic_probe as _;

bind_interrupts!(struct Interrupts {
    USART1 => usart::InterruptHandler<peripherals::USART1>;
    DMA2_STREAM2 => dma::InterruptHandler<peripherals::DMA2_CH2>;
    DMA2_STREAM3 => dma::InterruptHandler<peripherals::DMA2_CH3>;
    DMA2_STREAM5 => dma::InterruptHandler<peripherals::DMA2_CH5>;
    DMA2_STREAM7 => dma::InterruptHandler<peripherals::DMA2_CH7>;
});

#[unsafe(no_mangle)]
static WORKED: AtomicU32 = AtomicU32::new(0);

fn worked(step: u32, is_right: bool) {
    WORKED.fetch_or(u32::from(is_right) << step, Ordering::Relaxed);
}

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    // The time of this line is asked for before there is a timer.
    defmt::info!("a board in a laboratory");
    let mut p = embassy_stm32::init(Default::default());

    // A timer of 30 ms lasts about that.
    let begin = Instant::now();
    Timer::after_millis(30).await;
    worked(0, (30..33).contains(&begin.elapsed().as_millis()));

    // An output drives the other end of its wire against any pull; an open drain leaves the high level to the pull.
    let mut is_right = true;
    for pull in [Pull::None, Pull::Up, Pull::Down] {
        let input = Input::new(p.PA10.reborrow(), pull);
        let mut output = Output::new(p.PA9.reborrow(), Level::Low, Speed::Low);
        is_right &= input.is_low();
        output.set_high();
        is_right &= input.is_high();
    }
    for (pull, is_high) in [(Pull::Up, true), (Pull::Down, false)] {
        let input = Input::new(p.PA10.reborrow(), pull);
        let mut output = OutputOpenDrain::new(p.PA9.reborrow(), Level::Low, Speed::Low);
        is_right &= input.is_low();
        output.set_high();
        is_right &= input.is_high() == is_high;
    }
    worked(1, is_right);

    // A serial port hears itself, reports what it had no room for, and lasts as long as its rate says.
    for (step, baudrate) in [(2, 9600), (3, 57_600), (4, 115_200)] {
        let mut config = usart::Config::default();
        config.baudrate = baudrate;
        let port = Uart::new_blocking(p.USART1.reborrow(), p.PA10.reborrow(), p.PA9.reborrow(), config);
        let mut port = unwrap!(port);
        let (begin, mut heard) = (Instant::now(), [0; 1]);
        let mut is_right = true;
        for byte in 0..96 {
            unwrap!(port.blocking_write(&[byte]));
            is_right &= port.blocking_read(&mut heard) == Ok(()) && heard[0] == byte;
        }
        let (took, wanted) = (begin.elapsed().as_micros(), 960 * 1_000_000 / u64::from(baudrate));
        unwrap!(port.blocking_write(&[1, 2, 3]));
        unwrap!(port.blocking_flush());
        let overrun = port.blocking_read(&mut heard);
        worked(
            step,
            is_right && took.abs_diff(wanted) < wanted / 5 && overrun == Err(usart::Error::Overrun),
        );
    }

    // The same by DMA, in both directions at once.
    let sent: [u8; 200] = core::array::from_fn(|place| place as u8 ^ 0x5a);
    let mut heard = [0; 200];
    let port = Uart::new(
        p.USART1,
        p.PA10,
        p.PA9,
        p.DMA2_CH7,
        p.DMA2_CH5,
        Interrupts,
        usart::Config::default(),
    );
    let (mut tx, mut rx) = unwrap!(port).split();
    let (received, written) = join(rx.read(&mut heard), tx.write(&sent)).await;
    worked(5, received.is_ok() && written.is_ok() && heard == sent);
    // The receiver last: the half that goes last switches off the clock of both before it lets go of its pin.
    drop(tx);
    drop(rx);

    // SPI receives what it sends, by DMA and without.
    let spi = p.SPI1.reborrow();
    let pins = (p.PA5.reborrow(), p.PA7.reborrow(), p.PA6.reborrow());
    let channels = (p.DMA2_CH3.reborrow(), p.DMA2_CH2.reborrow());
    let config = spi::Config::default();
    let mut spi = Spi::new(spi, pins.0, pins.1, pins.2, channels.0, channels.1, Interrupts, config);
    let words: [u16; 5] = [0, 0xffff, 0x1234, 0x8001, 0x5aa5];
    let (mut bytes, mut halves, mut again) = ([0; 200], [0; 5], [0; 5]);
    unwrap!(spi.transfer(&mut bytes, &sent).await);
    unwrap!(spi.transfer(&mut halves, &words).await);
    unwrap!(spi.blocking_transfer(&mut again, &words));
    worked(6, bytes == sent && halves == words && again == words);
    drop(spi);

    // MISO follows a pin.
    let (tx, rx) = (p.DMA2_CH3.reborrow(), p.DMA2_CH2.reborrow());
    let mut spi = Spi::new_rxonly(
        p.SPI1.reborrow(),
        p.PA5.reborrow(),
        p.PA6.reborrow(),
        tx,
        rx,
        Interrupts,
        config,
    );
    let (mut output, mut is_right) = (Output::new(p.PA7, Level::High, Speed::Low), true);
    for byte in [0xff, 0_u8] {
        unwrap!(spi.read(&mut bytes).await);
        is_right &= bytes == [byte; 200];
        output.set_low();
    }
    worked(7, is_right);
}

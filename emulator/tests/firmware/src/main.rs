//! Boards in a chain: every board sends numbered frames to both neighbors and checks what they send.
//!
//! What a board does is in four words of the last flash sector: a magic number, how many frames to send on each link
//! (0: none, the board only blinks; u32::MAX: without end), the baud rate, and which links have a neighbor. What came
//! of it is in [`RESULTS`], which the test reads from memory, and in the log.
#![no_std]
#![no_main]

mod clocks;

use core::sync::atomic::{AtomicU32, Ordering};

use defmt::{info, unwrap, warn};
use defmt_rtt as _;
use embassy_executor::Spawner;
use embassy_stm32::gpio::{Level, Output, Speed};
use embassy_stm32::mode::Async;
use embassy_stm32::usart::{self, RingBufferedUartRx, Uart, UartTx};
use embassy_stm32::{bind_interrupts, dma, peripherals};
use embassy_time::Timer;
use panic_probe as _;
use static_cell::ConstStaticCell;

bind_interrupts!(struct Interrupts {
    USART1 => usart::InterruptHandler<peripherals::USART1>;
    USART2 => usart::InterruptHandler<peripherals::USART2>;
    USART3 => usart::InterruptHandler<peripherals::USART3>;
    UART4 => usart::InterruptHandler<peripherals::UART4>;
    UART5 => usart::InterruptHandler<peripherals::UART5>;
    USART6 => usart::InterruptHandler<peripherals::USART6>;
    DMA1_STREAM0 => dma::InterruptHandler<peripherals::DMA1_CH0>;
    DMA1_STREAM1 => dma::InterruptHandler<peripherals::DMA1_CH1>;
    DMA1_STREAM2 => dma::InterruptHandler<peripherals::DMA1_CH2>;
    DMA1_STREAM3 => dma::InterruptHandler<peripherals::DMA1_CH3>;
    DMA1_STREAM4 => dma::InterruptHandler<peripherals::DMA1_CH4>;
    DMA1_STREAM5 => dma::InterruptHandler<peripherals::DMA1_CH5>;
    DMA1_STREAM6 => dma::InterruptHandler<peripherals::DMA1_CH6>;
    DMA1_STREAM7 => dma::InterruptHandler<peripherals::DMA1_CH7>;
    DMA2_STREAM1 => dma::InterruptHandler<peripherals::DMA2_CH1>;
    DMA2_STREAM5 => dma::InterruptHandler<peripherals::DMA2_CH5>;
    DMA2_STREAM6 => dma::InterruptHandler<peripherals::DMA2_CH6>;
    DMA2_STREAM7 => dma::InterruptHandler<peripherals::DMA2_CH7>;
});

const PAGE: *const u32 = 0x0806_0000 as *const u32;
const MAGIC: u32 = 0x686f_7077;
/// Marker, number (four bytes), 58 bytes made from the number, sum of all before.
const FRAME: usize = 64;
const MARKER: u8 = 0x7e;
/// The right and the left neighbor on USART1 and USART3, then UART4, UART5, USART6 and USART2.
const LINKS: usize = 6;
/// Bytes of a link's DMA buffer.
const RING: usize = 512;

/// Per link: frames sent, good frames, bad bytes, numbers missing, errors of the receiver.
#[unsafe(no_mangle)]
static RESULTS: [[AtomicU32; 5]; LINKS] = [const { [const { AtomicU32::new(0) }; 5] }; LINKS];

fn count(link: usize, what: usize, amount: u32) {
    RESULTS[link][what].fetch_add(amount, Ordering::Relaxed);
}

fn page(word: usize) -> u32 {
    // SAFETY: the flash is there and never changes while the board runs.
    unsafe { PAGE.add(word).read_volatile() }
}

fn make_frame(number: u32) -> [u8; FRAME] {
    let mut frame = [0; FRAME];
    frame[0] = MARKER;
    frame[1..5].copy_from_slice(&number.to_le_bytes());
    for (place, byte) in frame[5..FRAME - 1].iter_mut().enumerate() {
        *byte = (number as u8).wrapping_mul(31).wrapping_add(place as u8 * 7);
    }
    frame[FRAME - 1] = frame[..FRAME - 1].iter().fold(0, |sum, byte| sum.wrapping_add(*byte));
    frame
}

#[embassy_executor::task(pool_size = LINKS)]
async fn send(link: usize, mut tx: UartTx<'static, Async>, frames: u32) {
    // The neighbor may start later; bytes before its receiver runs would be lost.
    Timer::after_millis(20).await;
    let mut number = 0;
    while number < frames {
        unwrap!(tx.write(&make_frame(number)).await);
        count(link, 0, 1);
        number = number.wrapping_add(1);
    }
    // The last bytes are still being sent when the last write is done, and dropping the port takes its pin away.
    unwrap!(tx.flush().await);
    info!("link {} has sent {} frames", link, frames);
}

#[embassy_executor::task(pool_size = LINKS)]
async fn receive(link: usize, mut rx: RingBufferedUartRx<'static>) {
    let mut frame = [0; FRAME];
    let mut filled = 0;
    let mut expected = 0;
    // After an error the driver stops its DMA stream, which raises "transfer complete", which the driver takes for one
    // more full ring: it offers the whole ring to be read. If a byte comes while it copies the first piece of that, it
    // reports an overrun and stops again. At one million baud a byte comes every 10 us: copying 64 bytes takes that
    // long, so that it would never end, and no other task would run. 16 bytes take a quarter of it.
    let mut buffer = [0; 16];
    loop {
        match rx.read(&mut buffer).await {
            Ok(received) => {
                for byte in &buffer[..received] {
                    frame[filled] = *byte;
                    if filled > 0 || *byte == MARKER {
                        filled += 1;
                    } else {
                        count(link, 2, 1);
                    }
                    if filled == FRAME {
                        filled = 0;
                        check(link, &frame, &mut expected);
                    }
                }
            }
            Err(error) => {
                warn!("link {}: {}", link, error);
                count(link, 4, 1);
                filled = 0;
            }
        }
    }
}

fn check(link: usize, frame: &[u8; FRAME], expected: &mut u32) {
    let number = u32::from_le_bytes([frame[1], frame[2], frame[3], frame[4]]);
    if *frame != make_frame(number) {
        count(link, 2, FRAME as u32);
        return;
    }
    count(link, 1, 1);
    count(link, 3, number.wrapping_sub(*expected));
    *expected = number + 1;
    if number % 64 == 63 {
        info!("link {}: frame {} is here", link, number);
    }
}

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    let p = embassy_stm32::init(clocks::clocks());
    let mut led = Output::new(p.PA5, Level::Low, Speed::Low);
    let configured = page(0) == MAGIC;
    let (frames, baud, links) = if configured {
        (page(1), page(2), page(3))
    } else {
        (0, 115_200, 0)
    };
    info!("board is up: {} frames at {} baud", frames, baud);
    if frames > 0 {
        let mut config = usart::Config::default();
        config.baudrate = baud;
        // TX and RX pin, then the DMA streams of TX and RX.
        macro_rules! start {
            ($link:literal, $uart:ident, $tx:ident, $rx:ident, $dma_tx:ident, $dma_rx:ident) => {
                if links >> $link & 1 != 0 {
                    static RING_BUFFER: ConstStaticCell<[u8; RING]> = ConstStaticCell::new([0; RING]);
                    let uart = unwrap!(Uart::new(
                        p.$uart, p.$rx, p.$tx, p.$dma_tx, p.$dma_rx, Interrupts, config
                    ));
                    let (tx, rx) = uart.split();
                    spawner.spawn(unwrap!(receive($link, rx.into_ring_buffered(RING_BUFFER.take()))));
                    spawner.spawn(unwrap!(send($link, tx, frames)));
                }
            };
        }
        start!(0, USART1, PA9, PA10, DMA2_CH7, DMA2_CH5);
        start!(1, USART3, PB10, PC5, DMA1_CH3, DMA1_CH1);
        start!(2, UART4, PA0, PA1, DMA1_CH4, DMA1_CH2);
        start!(3, UART5, PC12, PD2, DMA1_CH7, DMA1_CH0);
        start!(4, USART6, PC6, PC7, DMA2_CH6, DMA2_CH1);
        start!(5, USART2, PA2, PA3, DMA1_CH6, DMA1_CH5);
    }
    loop {
        led.toggle();
        Timer::after_millis(250).await;
    }
}

//! A nucleo-f446re at 180 MHz with two serial ports at 1 Mbaud, by embassy's drivers with DMA.

#[path = "../../../emulator/tests/firmware/src/clocks.rs"]
mod clocks;

use core::panic::PanicInfo;

use embassy_stm32::mode::Async;
use embassy_stm32::usart::{self, RingBufferedUartRx, Uart, UartTx};
use embassy_stm32::{bind_interrupts, dma, peripherals};
use static_cell::ConstStaticCell;

const BAUD: u32 = 1_000_000;
/// Bytes of a port's DMA buffer, as in Hopwise's firmware at this rate.
const RING: usize = 512;
/// The largest frame.
pub const FRAME: usize = 300;

pub type Sender = UartTx<'static, Async>;
pub type Receiver = RingBufferedUartRx<'static>;

bind_interrupts!(struct Interrupts {
    USART1 => usart::InterruptHandler<peripherals::USART1>;
    USART3 => usart::InterruptHandler<peripherals::USART3>;
    DMA1_STREAM1 => dma::InterruptHandler<peripherals::DMA1_CH1>;
    DMA1_STREAM3 => dma::InterruptHandler<peripherals::DMA1_CH3>;
    DMA2_STREAM5 => dma::InterruptHandler<peripherals::DMA2_CH5>;
    DMA2_STREAM7 => dma::InterruptHandler<peripherals::DMA2_CH7>;
});

/// USART1 and USART3. To be called once.
pub fn ports() -> [(Sender, Receiver); 2] {
    static RINGS: [ConstStaticCell<[u8; RING]>; 2] = [const { ConstStaticCell::new([0; RING]) }; 2];
    let p = embassy_stm32::init(clocks::clocks());
    let mut config = usart::Config::default();
    config.baudrate = BAUD;
    // An unplugged line is idle.
    config.rx_pull = embassy_stm32::gpio::Pull::Up;
    let first = Uart::new(p.USART1, p.PA10, p.PA9, p.DMA2_CH7, p.DMA2_CH5, Interrupts, config);
    let second = Uart::new(p.USART3, p.PC5, p.PB10, p.DMA1_CH3, p.DMA1_CH1, Interrupts, config);
    let mut rings = RINGS.each_ref().into_iter();
    [first, second].map(|uart| {
        let (tx, rx) = uart.unwrap().split();
        (tx, rx.into_ring_buffered(rings.next().unwrap().take()))
    })
}

/// The emulator reports it as a fault.
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    cortex_m::asm::udf()
}

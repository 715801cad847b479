//! What STM32F4 chips have in common: RM0390 (F446), RM0090 (F405), RM0368 (F401), RM0383 (F411).

use super::super::adc::{self, Adc};
use super::super::clocks::Limits;
use super::super::dma::Controllers;
use super::super::flash::FlashController;
use super::super::i2c::{Registers, Wire};
use super::super::map::{Gate, Kind, Place};
use super::super::peripheral::{Parts, Peripheral};
use super::super::pins::Side;
use super::super::power::Power;
use super::super::rcc::Rcc;
use super::super::rng::Rng;
use super::super::spi::{self, Spi};
use super::super::timer::Timer;
use super::super::usart::Usart;
use super::super::{Individual, calendar, exti};
use super::Description;

/// What differs between F4 chips besides the map.
pub(crate) struct F4 {
    /// PWR_CR after reset.
    pub(in super::super) power_control: u32,
    /// Whether it has an over-drive.
    pub(in super::super) has_overdrive: bool,
    /// What the chip bears, by bits 14 and 15 of PWR_CR, the voltage scale, and by whether the over-drive is on.
    pub(in super::super) limits: fn(u32, bool) -> Limits,
    /// Which stream and channel a serial port can ask.
    pub(crate) requests: &'static [Request],
}

/// A request of a serial port to DMA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) uart: usize,
    pub(crate) side: Side,
    /// 0 is DMA1.
    pub(crate) controller: usize,
    pub(crate) stream: usize,
    pub(crate) channel: u32,
}

pub(super) const fn rx(uart: usize, controller: usize, stream: usize, channel: u32) -> Request {
    Request {
        uart,
        side: Side::Rx,
        controller,
        stream,
        channel,
    }
}

pub(super) const fn tx(uart: usize, controller: usize, stream: usize, channel: u32) -> Request {
    Request {
        side: Side::Tx,
        ..rx(uart, controller, stream, channel)
    }
}

const KIB: u32 = 1024;

/// The sectors of chips with 512 KiB.
pub(super) const SECTORS: [u32; 8] = [
    16 * KIB,
    16 * KIB,
    16 * KIB,
    16 * KIB,
    64 * KIB,
    128 * KIB,
    128 * KIB,
    128 * KIB,
];

/// What the PLLs of most take and what their oscillators can do, in Hz.
const PLL_INPUT: (u64, u64) = (950_000, 2_100_000);
const PLL_VCO: (u64, u64) = (100_000_000, 432_000_000);
/// The highest HCLK in Hz with each number of wait states, at 2.7 V and more: one for each 30 MHz.
const WAIT_STATES: &[u64] = &[
    30_000_000,
    60_000_000,
    90_000_000,
    120_000_000,
    150_000_000,
    180_000_000,
];

/// Limits in MHz, with what most chips have for the rest.
pub(super) const fn limits(hclk: u64, apb1: u64, apb2: u64) -> Limits {
    Limits {
        hclk: hclk * 1_000_000,
        ahb: hclk * 1_000_000,
        apb1: apb1 * 1_000_000,
        apb2: apb2 * 1_000_000,
        pll_input: PLL_INPUT,
        pll_vco: PLL_VCO,
        wait_states: WAIT_STATES,
    }
}

/// System memory that reads as erased, and the option bytes as they are delivered.
pub(super) const CONSTANTS: &[(u32, u32, u32)] = &[
    (0x1fff_0000, 0x1fff_7a0f, 0xffff_ffff),
    (0x1fff_c000, 0x1fff_c003, 0x5500_aaff),
    (0x1fff_c008, 0x1fff_c00b, 0x0000_ffff),
];
pub(super) const UNIQUE_ID: u32 = 0x1fff_7a10;
pub(super) const FLASH_SIZE: u32 = 0x1fff_7a22;

/// The family's parts for a chip.
pub(super) fn parts(chip: &Description, facts: &'static F4, individual: &Individual) -> Parts {
    let mut uarts: [Option<Box<Usart>>; super::super::UARTS] = Default::default();
    let mut data_registers = [0; super::super::UARTS];
    for place in chip.places {
        if let Kind::Uart(uart) = place.kind {
            uarts[uart] = Some(Box::new(Usart::default()));
            data_registers[uart] = place.base + 4;
        }
    }
    Parts {
        clock: Box::new(Rcc::new(individual.external_clock(), individual.lse)),
        power: Box::new(Power::new(facts)),
        flash: Box::new(FlashController::new(individual.flash_wear)),
        dma: Box::new(Controllers::new(facts.requests, data_registers)),
        uarts,
    }
}

const AHB1: u32 = 0x30;
const AHB2: u32 = 0x34;
pub(in super::super) const APB1: u32 = 0x40;
pub(in super::super) const APB2: u32 = 0x44;

const fn at(
    base: u32,
    name: &'static str,
    kind: Kind,
    (register, bit): (u32, u32),
    interrupts: &'static [usize],
) -> Place {
    Place::new(base, name, kind, Some(Gate { register, bit }), interrupts)
}

const fn unmodelled(base: u32, name: &'static str) -> Place {
    Place::unmodelled(base, 0x400, name)
}

const fn i2c(base: u32, name: &'static str, bit: u32, interrupts: &'static [usize], wires: &'static [Wire]) -> Place {
    at(base, name, Kind::I2c(Registers::Older, wires), (APB1, bit), interrupts)
}

fn wide_timer() -> Box<dyn Peripheral> {
    Box::new(Timer::new(true))
}

fn narrow_timer() -> Box<dyn Peripheral> {
    Box::new(Timer::new(false))
}

fn advanced_timer() -> Box<dyn Peripheral> {
    Box::new(Timer::advanced())
}

fn spi() -> Box<dyn Peripheral> {
    Box::new(Spi::new(spi::Kind::F4))
}

fn adc() -> Box<dyn Peripheral> {
    Box::new(Adc::new(adc::Kind::F4))
}

fn rng() -> Box<dyn Peripheral> {
    Box::new(Rng::default())
}

// The peripherals that some F4 has, with the same address, clock and interrupts wherever there is one.
pub(super) const TIM2: Place = at(0x4000_0000, "TIM2", Kind::Timer(wide_timer), (APB1, 0), &[28]);
pub(super) const TIM3: Place = at(0x4000_0400, "TIM3", Kind::Timer(narrow_timer), (APB1, 1), &[29]);
pub(super) const TIM4: Place = at(0x4000_0800, "TIM4", Kind::Timer(narrow_timer), (APB1, 2), &[30]);
pub(super) const TIM5: Place = at(0x4000_0c00, "TIM5", Kind::Timer(wide_timer), (APB1, 3), &[50]);
pub(super) const TIM6: Place = at(0x4000_1000, "TIM6", Kind::Timer(narrow_timer), (APB1, 4), &[54]);
pub(super) const TIM7: Place = at(0x4000_1400, "TIM7", Kind::Timer(narrow_timer), (APB1, 5), &[55]);
pub(super) const TIM12: Place = unmodelled(0x4000_1800, "TIM12");
pub(super) const TIM13: Place = unmodelled(0x4000_1c00, "TIM13");
pub(super) const TIM14: Place = unmodelled(0x4000_2000, "TIM14");
pub(super) const RTC: Place = Place::new(0x4000_2800, "RTC", Kind::Calendar(calendar::Layout::Older), None, &[]);
pub(super) const WWDG: Place = unmodelled(0x4000_2c00, "WWDG");
pub(super) const IWDG: Place = Place::new(0x4000_3000, "IWDG", Kind::Watchdog, None, &[]);
pub(super) const I2S2EXT: Place = unmodelled(0x4000_3400, "I2S2ext");
pub(super) const SPI2: Place = at(0x4000_3800, "SPI2", Kind::Own(spi), (APB1, 14), &[36]);
pub(super) const SPI3: Place = at(0x4000_3c00, "SPI3", Kind::Own(spi), (APB1, 15), &[51]);
/// On the F446 the SPDIF-RX.
pub(super) const I2S3EXT: Place = unmodelled(0x4000_4000, "I2S3ext");
pub(super) const SPDIF: Place = unmodelled(0x4000_4000, "SPDIF-RX");
pub(super) const USART2: Place = at(0x4000_4400, "USART2", Kind::Uart(1), (APB1, 17), &[38]);
pub(super) const USART3: Place = at(0x4000_4800, "USART3", Kind::Uart(2), (APB1, 18), &[39]);
pub(super) const UART4: Place = at(0x4000_4c00, "UART4", Kind::Uart(3), (APB1, 19), &[52]);
pub(super) const UART5: Place = at(0x4000_5000, "UART5", Kind::Uart(4), (APB1, 20), &[53]);
pub(super) const I2C1: Place = i2c(
    0x4000_5400,
    "I2C1",
    21,
    &[31, 32],
    &[
        Wire::scl("PB6", 4),
        Wire::scl("PB8", 4),
        Wire::sda("PB7", 4),
        Wire::sda("PB9", 4),
    ],
);
/// I2C2 and I2C3 have their data at other pins on each chip.
pub(super) const fn i2c2(wires: &'static [Wire]) -> Place {
    i2c(0x4000_5800, "I2C2", 22, &[33, 34], wires)
}
pub(super) const fn i2c3(wires: &'static [Wire]) -> Place {
    i2c(0x4000_5c00, "I2C3", 23, &[72, 73], wires)
}
pub(super) const FMPI2C1: Place = at(
    0x4000_6000,
    "FMPI2C1",
    Kind::I2c(
        Registers::Newer,
        &[
            Wire::scl("PC6", 4),
            Wire::scl("PD12", 4),
            Wire::scl("PD14", 4),
            Wire::scl("PF14", 4),
            Wire::sda("PC7", 4),
            Wire::sda("PD13", 4),
            Wire::sda("PD15", 4),
            Wire::sda("PF15", 4),
        ],
    ),
    (APB1, 24),
    &[95, 96],
);
pub(super) const CAN1: Place = unmodelled(0x4000_6400, "CAN1");
pub(super) const CAN2: Place = unmodelled(0x4000_6800, "CAN2");
pub(super) const CEC: Place = unmodelled(0x4000_6c00, "HDMI-CEC");
pub(super) const PWR: Place = at(0x4000_7000, "PWR", Kind::Power, (APB1, 28), &[]);
pub(super) const DAC: Place = unmodelled(0x4000_7400, "DAC");
pub(super) const TIM1: Place = at(0x4001_0000, "TIM1", Kind::Timer(advanced_timer), (APB2, 0), &[25, 27]);
pub(super) const TIM8: Place = at(0x4001_0400, "TIM8", Kind::Timer(advanced_timer), (APB2, 1), &[44, 46]);
pub(super) const USART1: Place = at(0x4001_1000, "USART1", Kind::Uart(0), (APB2, 4), &[37]);
pub(super) const USART6: Place = at(0x4001_1400, "USART6", Kind::Uart(5), (APB2, 5), &[71]);
pub(super) const ADC: Place = at(0x4001_2000, "ADC", Kind::Own(adc), (APB2, 8), &[18]);
pub(super) const SDIO: Place = unmodelled(0x4001_2c00, "SDIO");
pub(super) const SPI1: Place = at(0x4001_3000, "SPI1", Kind::Own(spi), (APB2, 12), &[35]);
pub(super) const SPI4: Place = at(0x4001_3400, "SPI4", Kind::Own(spi), (APB2, 13), &[84]);
pub(super) const SYSCFG: Place = at(0x4001_3800, "SYSCFG", Kind::Syscfg, (APB2, 14), &[]);
pub(super) const EXTI: Place = Place::new(
    0x4001_3c00,
    "EXTI",
    Kind::Exti(exti::Layout::MaskFirst),
    None,
    &[6, 7, 8, 9, 10, 23, 40],
);
pub(super) const TIM9: Place = unmodelled(0x4001_4000, "TIM9");
pub(super) const TIM10: Place = unmodelled(0x4001_4400, "TIM10");
pub(super) const TIM11: Place = unmodelled(0x4001_4800, "TIM11");
pub(super) const SPI5: Place = at(0x4001_5000, "SPI5", Kind::Own(spi), (APB2, 20), &[85]);
pub(super) const SAI1: Place = unmodelled(0x4001_5800, "SAI1");
pub(super) const SAI2: Place = unmodelled(0x4001_5c00, "SAI2");
pub(super) const GPIOA: Place = at(0x4002_0000, "GPIOA", Kind::Gpio(0), (AHB1, 0), &[]);
pub(super) const GPIOB: Place = at(0x4002_0400, "GPIOB", Kind::Gpio(1), (AHB1, 1), &[]);
pub(super) const GPIOC: Place = at(0x4002_0800, "GPIOC", Kind::Gpio(2), (AHB1, 2), &[]);
pub(super) const GPIOD: Place = at(0x4002_0c00, "GPIOD", Kind::Gpio(3), (AHB1, 3), &[]);
pub(super) const GPIOE: Place = at(0x4002_1000, "GPIOE", Kind::Gpio(4), (AHB1, 4), &[]);
pub(super) const GPIOF: Place = at(0x4002_1400, "GPIOF", Kind::Gpio(5), (AHB1, 5), &[]);
pub(super) const GPIOG: Place = at(0x4002_1800, "GPIOG", Kind::Gpio(6), (AHB1, 6), &[]);
pub(super) const GPIOH: Place = at(0x4002_1c00, "GPIOH", Kind::Gpio(7), (AHB1, 7), &[]);
pub(super) const GPIOI: Place = at(0x4002_2000, "GPIOI", Kind::Gpio(8), (AHB1, 8), &[]);
pub(super) const CRC: Place = unmodelled(0x4002_3000, "CRC");
pub(super) const RCC: Place = Place::new(0x4002_3800, "RCC", Kind::Clock, None, &[5]);
pub(super) const FLASH: Place = Place::new(0x4002_3c00, "FLASH", Kind::Flash, None, &[4]);
pub(super) const BKPSRAM: Place = Place::unmodelled(0x4002_4000, 0x1000, "BKPSRAM");
pub(super) const DMA1: Place = at(
    0x4002_6000,
    "DMA1",
    Kind::Dma(0),
    (AHB1, 21),
    &[11, 12, 13, 14, 15, 16, 17, 47],
);
pub(super) const DMA2: Place = at(
    0x4002_6400,
    "DMA2",
    Kind::Dma(1),
    (AHB1, 22),
    &[56, 57, 58, 59, 60, 68, 69, 70],
);
pub(super) const USB_HS: Place = Place::unmodelled(0x4004_0000, 0x4_0000, "USB OTG HS");
pub(super) const USB_FS: Place = Place::unmodelled(0x5000_0000, 0x4_0000, "USB OTG FS");
pub(super) const DCMI: Place = unmodelled(0x5005_0000, "DCMI");
pub(super) const RNG: Place = at(0x5006_0800, "RNG", Kind::Own(rng), (AHB2, 6), &[80]);
pub(super) const FMC: Place = Place::unmodelled(0xa000_0000, 0x1000, "FMC");
pub(super) const QUADSPI: Place = Place::unmodelled(0xa000_1000, 0x1000, "QUADSPI");
pub(super) const DBGMCU: Place = Place::new(0xe004_2000, "DBGMCU", Kind::DebugControl, None, &[]);

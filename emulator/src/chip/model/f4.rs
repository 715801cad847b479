//! What STM32F4 chips have in common: RM0390 (F446), RM0090 (F405), RM0368 (F401), RM0383 (F411).

// What the descriptions of single chips are written with, besides what is below.
pub(super) use super::super::clocks::Limits;
pub(super) use super::super::pwr::f4::PwrFacts;
pub(super) use super::kinds::{
    Description, FlashReading, I2cPins, MapEntry, MemorySizes, Pins, Request, UartPins, pins,
};

use super::super::clocks::megahertz;
use super::super::dma::layout::STREAMS_F4;
use super::super::flash::f4::FlashF4;
use super::super::i2c::Registers;
use super::super::pwr::f4::PwrF4;
use super::super::rcc::layout::f4::{AHB1, AHB2, APB1, APB2};
use super::kinds::{self, *};

pub(super) const KIB: u32 = 1024;

const fn sectors<const N: usize>() -> [u32; N] {
    let mut sectors = [128 * KIB; N];
    (sectors[0], sectors[1], sectors[2], sectors[3]) = (16 * KIB, 16 * KIB, 16 * KIB, 16 * KIB);
    sectors[4] = 64 * KIB;
    sectors
}
pub(super) const SECTORS_512K: [u32; 8] = sectors();
pub(super) const SECTORS_1M: [u32; 12] = sectors();

pub(super) const MEMORY: MemorySizes = MemorySizes {
    sectors: &SECTORS_512K,
    sram_base: SRAM,
    sram: 128 * 1024,
    ccm_base: CCM,
    ccm: 0,
    dma_reaches_ccm: false,
    corrects_ram: false,
};

/// What the PLLs of most take and what their oscillators can do, in Hz.
const PLL: ((u64, u64), (u64, u64)) = ((950_000, 2_100_000), (100_000_000, 432_000_000));
/// The highest HCLK in Hz with each number of wait states, at 2.7 V and more: one for each 30 MHz.
const WAIT_STATES: &[u64] = &megahertz([30, 60, 90, 120, 150, 180]);

/// Limits in MHz, with what most chips have for the rest.
pub(super) const fn limits(hclk: u64, apb1: u64, apb2: u64) -> Limits {
    Limits::new([hclk, hclk, apb1, apb2], PLL, WAIT_STATES)
}

/// System memory that reads as erased, and the option bytes as they are delivered.
pub(super) const SYSTEM: SystemMemory = SystemMemory {
    constants: &[
        (0x1fff_0000, 0x1fff_7a0f, 0xffff_ffff),
        (0x1fff_c000, 0x1fff_c003, 0x5500_aaff),
        (0x1fff_c008, 0x1fff_c00b, 0x0000_ffff),
    ],
    unique_id: 0x1fff_7a10,
    flash_size: 0x1fff_7a22,
};

pub(super) fn parts(chip: &Description, facts: &'static PwrFacts, individual: &Individual) -> Parts {
    let (power, flash) = (PwrF4::new(facts), FlashF4::new(individual.flash_wear));
    let dma = |registers| Controllers::new(&STREAMS_F4, chip.requests, registers);
    kinds::parts(Family::F4, (chip.map, None), individual, power, flash, dma)
}

const fn at(
    base: u32,
    name: &'static str,
    kind: Kind,
    (register, bit): (u32, u32),
    interrupts: &'static [usize],
) -> MapEntry {
    kinds::at(base, name, kind, kinds::on(register, bit), interrupts)
}

const fn unmodeled(base: u32, name: &'static str) -> MapEntry {
    MapEntry::unmodeled(base, 0x400, name)
}

const fn i2c(
    bit: u32,
    base: u32,
    name: &'static str,
    interrupts: &'static [usize],
    pins: &'static [I2cPins],
) -> MapEntry {
    at(base, name, Kind::I2c(Registers::V1, pins), (APB1, bit), interrupts)
}

// The peripherals that some F4 has, with the same address, clock and interrupts wherever there is one.
pub(super) const TIM2: MapEntry = at(0x4000_0000, "TIM2", WIDE, (APB1, 0), &[28]);
pub(super) const TIM3: MapEntry = at(0x4000_0400, "TIM3", NARROW, (APB1, 1), &[29]);
pub(super) const TIM4: MapEntry = at(0x4000_0800, "TIM4", NARROW, (APB1, 2), &[30]);
pub(super) const TIM5: MapEntry = at(0x4000_0c00, "TIM5", WIDE, (APB1, 3), &[50]);
pub(super) const TIM6: MapEntry = at(0x4000_1000, "TIM6", NARROW, (APB1, 4), &[54]);
pub(super) const TIM7: MapEntry = at(0x4000_1400, "TIM7", NARROW, (APB1, 5), &[55]);
pub(super) const TIM12: MapEntry = unmodeled(0x4000_1800, "TIM12");
pub(super) const TIM13: MapEntry = unmodeled(0x4000_1c00, "TIM13");
pub(super) const TIM14: MapEntry = unmodeled(0x4000_2000, "TIM14");
pub(super) const RTC: MapEntry = MapEntry::new(0x4000_2800, "RTC", Kind::Rtc(rtc::Layout::V2), None, &[]);
pub(super) const WWDG: MapEntry = unmodeled(0x4000_2c00, "WWDG");
pub(super) const IWDG: MapEntry = MapEntry::new(0x4000_3000, "IWDG", Kind::Iwdg, None, &[]);
pub(super) const I2S2EXT: MapEntry = unmodeled(0x4000_3400, "I2S2ext");
pub(super) const SPI2: MapEntry = at(0x4000_3800, "SPI2", SPI_V1, (APB1, 14), &[36]);
pub(super) const SPI3: MapEntry = at(0x4000_3c00, "SPI3", SPI_V1, (APB1, 15), &[51]);
/// On the F446 the SPDIF-RX.
pub(super) const I2S3EXT: MapEntry = unmodeled(0x4000_4000, "I2S3ext");
pub(super) const SPDIF: MapEntry = unmodeled(0x4000_4000, "SPDIF-RX");
pub(super) const USART2: MapEntry = at(0x4000_4400, "USART2", Kind::Uart(1), (APB1, 17), &[38]);
pub(super) const USART3: MapEntry = at(0x4000_4800, "USART3", Kind::Uart(2), (APB1, 18), &[39]);
pub(super) const UART4: MapEntry = at(0x4000_4c00, "UART4", Kind::Uart(3), (APB1, 19), &[52]);
pub(super) const UART5: MapEntry = at(0x4000_5000, "UART5", Kind::Uart(4), (APB1, 20), &[53]);
pub(super) const I2C1: MapEntry = i2c(
    21,
    0x4000_5400,
    "I2C1",
    &[31, 32],
    &[I2cPins::new(4, &pins(["PB6", "PB8"]), &pins(["PB7", "PB9"]))],
);
/// I2C2 and I2C3 have their data at other pins on each chip.
pub(super) const fn i2c2(pins: &'static [I2cPins]) -> MapEntry {
    i2c(22, 0x4000_5800, "I2C2", &[33, 34], pins)
}
pub(super) const fn i2c3(pins: &'static [I2cPins]) -> MapEntry {
    i2c(23, 0x4000_5c00, "I2C3", &[72, 73], pins)
}
pub(super) const FMPI2C1: MapEntry = at(
    0x4000_6000,
    "FMPI2C1",
    kinds::i2c(&[I2cPins::new(
        4,
        &pins(["PC6", "PD12", "PD14", "PF14"]),
        &pins(["PC7", "PD13", "PD15", "PF15"]),
    )]),
    (APB1, 24),
    &[95, 96],
);
pub(super) const CAN1: MapEntry = unmodeled(0x4000_6400, "CAN1");
pub(super) const CAN2: MapEntry = unmodeled(0x4000_6800, "CAN2");
pub(super) const CEC: MapEntry = unmodeled(0x4000_6c00, "HDMI-CEC");
pub(super) const PWR: MapEntry = at(0x4000_7000, "PWR", Kind::Pwr, (APB1, 28), &[]);
pub(super) const DAC: MapEntry = unmodeled(0x4000_7400, "DAC");
pub(super) const TIM1: MapEntry = at(0x4001_0000, "TIM1", ADVANCED, (APB2, 0), &[25, 27]);
pub(super) const TIM8: MapEntry = at(0x4001_0400, "TIM8", ADVANCED, (APB2, 1), &[44, 46]);
pub(super) const USART1: MapEntry = at(0x4001_1000, "USART1", Kind::Uart(0), (APB2, 4), &[37]);
pub(super) const USART6: MapEntry = at(0x4001_1400, "USART6", Kind::Uart(5), (APB2, 5), &[71]);
pub(super) const ADC: MapEntry = at(0x4001_2000, "ADC", ADC_V2, (APB2, 8), &[18]);
pub(super) const SDIO: MapEntry = unmodeled(0x4001_2c00, "SDIO");
pub(super) const SPI1: MapEntry = at(0x4001_3000, "SPI1", SPI_V1, (APB2, 12), &[35]);
pub(super) const SPI4: MapEntry = at(0x4001_3400, "SPI4", SPI_V1, (APB2, 13), &[84]);
pub(super) const SYSCFG: MapEntry = at(0x4001_3800, "SYSCFG", Kind::Syscfg, (APB2, 14), &[]);
pub(super) const EXTI: MapEntry = kinds::exti(0x4001_3c00);
pub(super) const TIM9: MapEntry = unmodeled(0x4001_4000, "TIM9");
pub(super) const TIM10: MapEntry = unmodeled(0x4001_4400, "TIM10");
pub(super) const TIM11: MapEntry = unmodeled(0x4001_4800, "TIM11");
pub(super) const SPI5: MapEntry = at(0x4001_5000, "SPI5", SPI_V1, (APB2, 20), &[85]);
pub(super) const SAI1: MapEntry = unmodeled(0x4001_5800, "SAI1");
pub(super) const SAI2: MapEntry = unmodeled(0x4001_5c00, "SAI2");
pub(super) const GPIOA: MapEntry = at(0x4002_0000, "GPIOA", Kind::Gpio(0), (AHB1, 0), &[]);
pub(super) const GPIOB: MapEntry = at(0x4002_0400, "GPIOB", Kind::Gpio(1), (AHB1, 1), &[]);
pub(super) const GPIOC: MapEntry = at(0x4002_0800, "GPIOC", Kind::Gpio(2), (AHB1, 2), &[]);
pub(super) const GPIOD: MapEntry = at(0x4002_0c00, "GPIOD", Kind::Gpio(3), (AHB1, 3), &[]);
pub(super) const GPIOE: MapEntry = at(0x4002_1000, "GPIOE", Kind::Gpio(4), (AHB1, 4), &[]);
pub(super) const GPIOF: MapEntry = at(0x4002_1400, "GPIOF", Kind::Gpio(5), (AHB1, 5), &[]);
pub(super) const GPIOG: MapEntry = at(0x4002_1800, "GPIOG", Kind::Gpio(6), (AHB1, 6), &[]);
pub(super) const GPIOH: MapEntry = at(0x4002_1c00, "GPIOH", Kind::Gpio(7), (AHB1, 7), &[]);
pub(super) const GPIOI: MapEntry = at(0x4002_2000, "GPIOI", Kind::Gpio(8), (AHB1, 8), &[]);
pub(super) const CRC: MapEntry = unmodeled(0x4002_3000, "CRC");
pub(super) const RCC: MapEntry = MapEntry::new(0x4002_3800, "RCC", Kind::Rcc, None, &[5]);
pub(super) const FLASH: MapEntry = MapEntry::new(0x4002_3c00, "FLASH", Kind::Flash, None, &[4]);
pub(super) const BKPSRAM: MapEntry = MapEntry::unmodeled(0x4002_4000, 0x1000, "BKPSRAM");
pub(super) const DMA1: MapEntry = at(
    0x4002_6000,
    "DMA1",
    Kind::Dma(0),
    (AHB1, 21),
    &[11, 12, 13, 14, 15, 16, 17, 47],
);
pub(super) const DMA2: MapEntry = at(
    0x4002_6400,
    "DMA2",
    Kind::Dma(1),
    (AHB1, 22),
    &[56, 57, 58, 59, 60, 68, 69, 70],
);
pub(super) const USB_HS: MapEntry = MapEntry::unmodeled(0x4004_0000, 0x4_0000, "USB OTG HS");
pub(super) const USB_FS: MapEntry = MapEntry::unmodeled(0x5000_0000, 0x4_0000, "USB OTG FS");
pub(super) const DCMI: MapEntry = unmodeled(0x5005_0000, "DCMI");
pub(super) const RNG: MapEntry = at(0x5006_0800, "RNG", kinds::RNG, (AHB2, 6), &[80]);
pub(super) const FMC: MapEntry = MapEntry::unmodeled(0xa000_0000, 0x1000, "FMC");
pub(super) const QUADSPI: MapEntry = MapEntry::unmodeled(0xa000_1000, 0x1000, "QUADSPI");
pub(super) const DBGMCU: MapEntry = MapEntry::new(0xe004_2000, "DBGMCU", Kind::Dbgmcu, None, &[]);

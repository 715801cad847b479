//! What the descriptions of chips have in common: the kinds of peripherals that a map lists.

// What every description is written with.
pub(super) use super::super::dma::Controllers;
pub(super) use super::super::gpio::Pins;
pub(super) use super::super::map::{Kind, MapEntry};
pub(super) use super::super::parts::{Individual, Parts};
pub(super) use super::super::rcc::{Family, Rcc};
pub(super) use super::{Description, SystemMemory};
pub(super) use crate::cpu::FlashReading;
pub(super) use crate::memory::{CCM, MemorySizes, SRAM};

use super::super::adc::{self, Adc};
use super::super::cordic::Cordic;
use super::super::dac::Dac;
use super::super::map::{PORTS, UART_NAMES, UARTS, port_named};
use super::super::parts::{FlashControl, PowerControl};
use super::super::rng::Rng;
use super::super::spi::{self, Spi};
use super::super::spi_v3::SpiV3;
use super::super::timer::Timer;
use super::super::usart::{Registers, Usart};

/// The parts of a chip with some power control and flash. Its serial ports have the registers of the F4, or FIFOs of so many bytes; DMA is made
/// for the addresses of their data registers, for receiving and for sending.
pub(super) fn parts(
    family: Family,
    (map, fifo): (&[MapEntry], Option<u8>),
    individual: &Individual,
    power: impl PowerControl + 'static,
    flash: impl FlashControl + 'static,
    dma: impl FnOnce([[u32; 2]; PORTS]) -> Controllers,
) -> Parts {
    let mut uarts: [Option<Box<Usart>>; UARTS] = Default::default();
    let mut data_registers = [[0; 2]; PORTS];
    for entry in map {
        if let Kind::Uart(uart) = entry.kind {
            let registers = match fifo {
                None => Registers::V2,
                Some(fifo) if UART_NAMES[uart].starts_with("LP") => Registers::LowPower { fifo },
                Some(fifo) => Registers::V3 { fifo },
            };
            uarts[uart] = Some(Box::new(Usart::new(registers)));
            data_registers[uart] = registers.data().map(|offset| entry.base + offset);
        } else if let (Kind::Own(make), Some(port)) = (entry.kind, port_named(entry.name)) {
            data_registers[port] = make().dma_registers().map(|offset| entry.base + offset);
        }
    }
    Parts {
        rcc: Rcc::new(family, individual.oscillator(), individual.lse),
        power: Box::new(power),
        flash: Box::new(flash),
        dma: dma(data_registers),
        uarts,
    }
}

/// Masters of the F4, of L4 and G4, and of the H7.
pub(super) const SPI_V1: Kind = Kind::Own(|| Box::new(Spi::new(spi::Kind::V1)));
pub(super) const SPI_V2: Kind = Kind::Own(|| Box::new(Spi::new(spi::Kind::V2)));
pub(super) const SPI_V3: Kind = Kind::Own(|| Box::new(SpiV3::new()));
/// Converters of the F4, and of the others.
pub(super) const ADC_V2: Kind = Kind::Own(|| Box::new(Adc::new(adc::Kind::V2)));
pub(super) const ADC_V3: Kind = Kind::Own(|| Box::new(Adc::new(adc::Kind::V3)));
pub(super) const DAC: Kind = Kind::Own(|| Box::new(Dac::default()));
pub(super) const CORDIC: Kind = Kind::Own(|| Box::new(Cordic::new()));
pub(super) const RNG: Kind = Kind::Own(|| Box::new(Rng::default()));
/// Timers of 32 bits, those with two interrupts, and others of 16 bits.
pub(super) const WIDE: Kind = Kind::Timer(|| Box::new(Timer::new(true)));
pub(super) const ADVANCED: Kind = Kind::Timer(|| Box::new(Timer::advanced()));
pub(super) const NARROW: Kind = Kind::Timer(|| Box::new(Timer::new(false)));

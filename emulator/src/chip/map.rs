//! Where the peripherals are: the memory map of RM0390 (F446) and RM0090 (F405), and their bits in the RCC.

use super::gpio;

/// Serial ports of the chip.
pub const UARTS: usize = 6;
/// Their names, in the order in which they are numbered here.
pub const UART_NAMES: [&str; UARTS] = ["USART1", "USART2", "USART3", "UART4", "UART5", "USART6"];

/// A peripheral.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Unit {
    Rcc,
    Power,
    Flash,
    Gpio(usize),
    Exti,
    Syscfg,
    Timer(usize),
    Uart(usize),
    Dma(usize),
    Watchdog,
    Backup,
    DebugControl,
    Unmodelled,
}

/// A bus as the RCC numbers them: the registers for reset and clock enable follow each other in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BusName {
    Ahb1,
    Ahb2,
    Ahb3,
    Apb1,
    Apb2,
}

/// A peripheral with its addresses and its bit in the reset and enable registers.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) base: u32,
    size: u32,
    pub(super) name: &'static str,
    pub(super) unit: Unit,
    /// `None` if its clock is always on.
    pub(super) gate: Option<(BusName, u32)>,
}

const fn place(base: u32, name: &'static str, unit: Unit, gate: Option<(BusName, u32)>) -> Place {
    Place {
        base,
        size: 0x400,
        name,
        unit,
        gate,
    }
}

const fn foreign(base: u32, size: u32, name: &'static str) -> Place {
    Place {
        base,
        size,
        name,
        unit: Unit::Unmodelled,
        gate: None,
    }
}

use BusName::{Ahb1, Apb1, Apb2};

/// All peripherals, by address.
pub(super) static PLACES: &[Place] = &[
    place(0x4000_0000, "TIM2", Unit::Timer(0), Some((Apb1, 0))),
    place(0x4000_0400, "TIM3", Unit::Timer(1), Some((Apb1, 1))),
    place(0x4000_0800, "TIM4", Unit::Timer(2), Some((Apb1, 2))),
    place(0x4000_0c00, "TIM5", Unit::Timer(3), Some((Apb1, 3))),
    foreign(0x4000_1000, 0x400, "TIM6"),
    foreign(0x4000_1400, 0x400, "TIM7"),
    foreign(0x4000_1800, 0x400, "TIM12"),
    foreign(0x4000_1c00, 0x400, "TIM13"),
    foreign(0x4000_2000, 0x400, "TIM14"),
    place(0x4000_2800, "RTC and backup registers", Unit::Backup, None),
    foreign(0x4000_2c00, 0x400, "WWDG"),
    place(0x4000_3000, "IWDG", Unit::Watchdog, None),
    foreign(0x4000_3400, 0x400, "I2S2ext"),
    foreign(0x4000_3800, 0x400, "SPI2"),
    foreign(0x4000_3c00, 0x400, "SPI3"),
    foreign(0x4000_4000, 0x400, "SPDIF-RX"),
    place(0x4000_4400, "USART2", Unit::Uart(1), Some((Apb1, 17))),
    place(0x4000_4800, "USART3", Unit::Uart(2), Some((Apb1, 18))),
    place(0x4000_4c00, "UART4", Unit::Uart(3), Some((Apb1, 19))),
    place(0x4000_5000, "UART5", Unit::Uart(4), Some((Apb1, 20))),
    foreign(0x4000_5400, 0x400, "I2C1"),
    foreign(0x4000_5800, 0x400, "I2C2"),
    foreign(0x4000_5c00, 0x400, "I2C3"),
    foreign(0x4000_6000, 0x400, "FMPI2C1"),
    foreign(0x4000_6400, 0x400, "CAN1"),
    foreign(0x4000_6800, 0x400, "CAN2"),
    foreign(0x4000_6c00, 0x400, "HDMI-CEC"),
    place(0x4000_7000, "PWR", Unit::Power, Some((Apb1, 28))),
    foreign(0x4000_7400, 0x400, "DAC"),
    foreign(0x4001_0000, 0x400, "TIM1"),
    foreign(0x4001_0400, 0x400, "TIM8"),
    place(0x4001_1000, "USART1", Unit::Uart(0), Some((Apb2, 4))),
    place(0x4001_1400, "USART6", Unit::Uart(5), Some((Apb2, 5))),
    foreign(0x4001_2000, 0x400, "ADC1 to ADC3"),
    foreign(0x4001_2c00, 0x400, "SDIO"),
    foreign(0x4001_3000, 0x400, "SPI1"),
    foreign(0x4001_3400, 0x400, "SPI4"),
    place(0x4001_3800, "SYSCFG", Unit::Syscfg, Some((Apb2, 14))),
    place(0x4001_3c00, "EXTI", Unit::Exti, None),
    foreign(0x4001_4000, 0x400, "TIM9"),
    foreign(0x4001_4400, 0x400, "TIM10"),
    foreign(0x4001_4800, 0x400, "TIM11"),
    foreign(0x4001_5800, 0x400, "SAI1"),
    foreign(0x4001_5c00, 0x400, "SAI2"),
    place(0x4002_0000, "GPIOA", Unit::Gpio(0), Some((Ahb1, 0))),
    place(0x4002_0400, "GPIOB", Unit::Gpio(1), Some((Ahb1, 1))),
    place(0x4002_0800, "GPIOC", Unit::Gpio(2), Some((Ahb1, 2))),
    place(0x4002_0c00, "GPIOD", Unit::Gpio(3), Some((Ahb1, 3))),
    place(0x4002_1000, "GPIOE", Unit::Gpio(4), Some((Ahb1, 4))),
    place(0x4002_1400, "GPIOF", Unit::Gpio(5), Some((Ahb1, 5))),
    place(0x4002_1800, "GPIOG", Unit::Gpio(6), Some((Ahb1, 6))),
    place(0x4002_1c00, "GPIOH", Unit::Gpio(7), Some((Ahb1, 7))),
    place(0x4002_2000, "GPIOI", Unit::Gpio(8), Some((Ahb1, 8))),
    foreign(0x4002_3000, 0x400, "CRC"),
    place(0x4002_3800, "RCC", Unit::Rcc, None),
    place(0x4002_3c00, "FLASH", Unit::Flash, None),
    foreign(0x4002_4000, 0x1000, "BKPSRAM"),
    place(0x4002_6000, "DMA1", Unit::Dma(0), Some((Ahb1, 21))),
    place(0x4002_6400, "DMA2", Unit::Dma(1), Some((Ahb1, 22))),
    foreign(0x4002_8000, 0x1400, "Ethernet MAC"),
    foreign(0x4004_0000, 0x4_0000, "USB OTG HS"),
    foreign(0x5000_0000, 0x4_0000, "USB OTG FS"),
    foreign(0x5005_0000, 0x400, "DCMI"),
    foreign(0x5006_0800, 0x400, "RNG"),
    foreign(0xa000_0000, 0x1000, "FMC"),
    foreign(0xa000_1000, 0x1000, "QUADSPI"),
    place(0xe004_2000, "DBGMCU", Unit::DebugControl, None),
];

const _: () = assert!(gpio::PORTS == 9);

/// The peripheral that an address belongs to.
pub(super) fn find(address: u32) -> Option<&'static Place> {
    let after = PLACES.partition_point(|place| place.base <= address);
    let place = PLACES[..after].last()?;
    (address - place.base < place.size).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_in_order_and_do_not_overlap() {
        assert!(
            PLACES
                .windows(2)
                .all(|pair| pair[0].base + pair[0].size <= pair[1].base)
        );
    }

    #[test]
    fn addresses_are_found() {
        assert_eq!(find(0x4000_4404).map(|place| place.name), Some("USART2"));
        assert_eq!(find(0x4000_2400).map(|place| place.name), None);
        assert_eq!(find(0x5003_ffff).map(|place| place.name), Some("USB OTG FS"));
    }
}

//! What L4 and G4 have in common.

use super::super::rcc::layout::l4_g4::{AHB1, AHB2, APB1, APB2};
use super::kinds::*;

pub(super) const SYSTEM: SystemMemory = SystemMemory {
    constants: &[(0x1fff_0000, 0x1fff_6fff, 0xffff_ffff)],
    unique_id: 0x1fff_7590,
    flash_size: 0x1fff_75e0,
};

/// The map of a chip: what both have, and what it has besides, by address.
pub(super) const fn map<const OWN: usize, const ALL: usize>(own: [MapEntry; OWN]) -> [MapEntry; ALL] {
    assert!(OWN + BOTH.len() == ALL);
    let mut all = [BOTH[0]; ALL];
    let (mut from_own, mut from_both) = (0, 0);
    while from_own + from_both < ALL {
        let place = from_own + from_both;
        if from_both == BOTH.len() || from_own < OWN && own[from_own].base < BOTH[from_both].base {
            all[place] = own[from_own];
            from_own += 1;
        } else {
            all[place] = BOTH[from_both];
            from_both += 1;
        }
    }
    all
}

// One line a peripheral.
#[rustfmt::skip]
const BOTH: &[MapEntry] = &[
    at(0x4000_0000, "TIM2", WIDE, on(APB1, 0), &[28]),
    at(0x4000_0400, "TIM3", NARROW, on(APB1, 1), &[29]),
    at(0x4000_0800, "TIM4", NARROW, on(APB1, 2), &[30]),
    at(0x4000_0c00, "TIM5", WIDE, on(APB1, 3), &[50]),
    at(0x4000_1000, "TIM6", NARROW, on(APB1, 4), &[54]),
    at(0x4000_1400, "TIM7", NARROW, on(APB1, 5), &[55]),
    none(0x4000_2c00, 0x400, "WWDG"),
    at(0x4000_3000, "IWDG", Kind::Iwdg, None, &[]),
    at(0x4000_3800, "SPI2", SPI_V2, on(APB1, 14), &[36]),
    at(0x4000_3c00, "SPI3", SPI_V2, on(APB1, 15), &[51]),
    at(0x4000_4400, "USART2", Kind::Uart(1), on(APB1, 17), &[38]),
    at(0x4000_4800, "USART3", Kind::Uart(2), on(APB1, 18), &[39]),
    at(0x4000_4c00, "UART4", Kind::Uart(3), on(APB1, 19), &[52]),
    at(0x4000_5000, "UART5", Kind::Uart(4), on(APB1, 20), &[53]),
    at(0x4000_7000, "PWR", Kind::Pwr, on(APB1, 28), &[]),
    none(0x4000_7c00, 0x400, "LPTIM1"),
    at(0x4001_0000, "SYSCFG", Kind::Syscfg, on(APB2, 0), &[]),
    exti(0x4001_0400),
    at(0x4001_2c00, "TIM1", ADVANCED, on(APB2, 11), &[25, 27]),
    at(0x4001_3000, "SPI1", SPI_V2, on(APB2, 12), &[35]),
    at(0x4001_3400, "TIM8", ADVANCED, on(APB2, 13), &[44, 46]),
    at(0x4001_3800, "USART1", Kind::Uart(0), on(APB2, 14), &[37]),
    at(0x4001_4000, "TIM15", NARROW, on(APB2, 16), &[24]),
    at(0x4001_4400, "TIM16", NARROW, on(APB2, 17), &[25]),
    at(0x4001_4800, "TIM17", NARROW, on(APB2, 18), &[26]),
    none(0x4001_5400, 0x400, "SAI1"),
    at(0x4002_1000, "RCC", Kind::Rcc, None, &[5]),
    at(0x4002_2000, "FLASH", Kind::Flash, on(AHB1, 8), &[4]),
    none(0x4002_3000, 0x400, "CRC"),
    at(0x4800_0000, "GPIOA", Kind::Gpio(0), on(AHB2, 0), &[]),
    at(0x4800_0400, "GPIOB", Kind::Gpio(1), on(AHB2, 1), &[]),
    at(0x4800_0800, "GPIOC", Kind::Gpio(2), on(AHB2, 2), &[]),
    at(0x4800_0c00, "GPIOD", Kind::Gpio(3), on(AHB2, 3), &[]),
    at(0x4800_1000, "GPIOE", Kind::Gpio(4), on(AHB2, 4), &[]),
    at(0x4800_1400, "GPIOF", Kind::Gpio(5), on(AHB2, 5), &[]),
    at(0x4800_1800, "GPIOG", Kind::Gpio(6), on(AHB2, 6), &[]),
    none(0xa000_1000, 0x1000, "QUADSPI"),
    at(0xe004_2000, "DBGMCU", Kind::Dbgmcu, None, &[]),
];

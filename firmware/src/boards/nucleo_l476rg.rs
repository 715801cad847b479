//! Nucleo-L476RG: five links. 80 MHz from the internal MSI, kept exact by the crystal of 32 kHz: as it is delivered the board
//! feeds nothing into the HSE pin.

use embassy_stm32::pac;
use embassy_stm32::rcc::*;
use embassy_stm32::time::Hertz;

super::board! {
    name: "nucleo-l476rg",
    ports: {
        USART1: tx PA9 DMA1_CH4 DMA1_CHANNEL4, rx PA10 DMA1_CH5 DMA1_CHANNEL5;
        USART3: tx PC4 DMA1_CH2 DMA1_CHANNEL2, rx PC5 DMA1_CH3 DMA1_CHANNEL3;
        UART4: tx PA0 DMA2_CH3 DMA2_CHANNEL3, rx PA1 DMA2_CH5 DMA2_CHANNEL5;
        UART5: tx PC12 DMA2_CH1 DMA2_CHANNEL1, rx PD2 DMA2_CH2 DMA2_CHANNEL2;
        LPUART1: tx PC1 DMA2_CH6 DMA2_CHANNEL6, rx PC0 DMA2_CH7 DMA2_CHANNEL7;
        USART2: tx PA2 DMA1_CH7 DMA1_CHANNEL7, rx PA3 DMA1_CH6 DMA1_CHANNEL6;
    },
    led: PA5,
    pressed_high: false,
    watchdog: IWDG,
    buses: [80_000_000],
}

pub(super) fn clocks() -> embassy_stm32::Config {
    let mut config = embassy_stm32::Config::default();
    config.rcc.msi = Some(MSIRange::RANGE4M);
    config.rcc.ls = LsConfig {
        rtc: RtcClockSource::DISABLE,
        lsi: false,
        lse: lse_runs().then_some(LseConfig {
            frequency: Hertz(32_768),
            mode: LseMode::Oscillator(DRIVE),
        }),
    };
    config.rcc.pll = Some(Pll {
        source: PllSource::MSI,
        prediv: PllPreDiv::DIV1,
        mul: PllMul::MUL40,
        divp: None,
        divq: None,
        divr: Some(PllRDiv::DIV2),
    });
    config.rcc.sys = Sysclk::PLL1_R;
    config
}

const DRIVE: LseDrive = LseDrive::MediumHigh;

/// Whether the crystal of 32 kHz runs. embassy would wait for it for ever. It takes up to two seconds after power-on.
fn lse_runs() -> bool {
    pac::RCC.apb1enr1().modify(|w| w.set_pwren(true));
    pac::PWR.cr1().modify(|w| w.set_dbp(true));
    pac::RCC.bdcr().modify(|w| w.set_lsedrv(DRIVE.into()));
    pac::RCC.bdcr().modify(|w| w.set_lseon(true));
    // At the 4 MHz that the chip begins with, about two seconds.
    let runs = (0..10 * super::LOOKS).any(|_| pac::RCC.bdcr().read().lserdy());
    if !runs {
        pac::RCC.bdcr().modify(|w| w.set_lseon(false));
    }
    runs
}

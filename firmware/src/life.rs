//! LED, button, watchdog, and what a board does to itself.

use cortex_m::peripheral::SCB;
use embassy_stm32::flash::{Blocking, Flash};
use embassy_stm32::gpio::{Input, Output};
use embassy_stm32::wdg::{IndependentWatchdog, Instance};
use embassy_time::{Duration, Ticker};
use hopwise_core::link::Micros;

use crate::answer::Order;
use crate::configuration;
use crate::shell::{Brain, Shell, now};
use crate::stack::StackProbe;

/// A step of the LED.
const STEP: Duration = Duration::from_millis(125);
/// An answer has left after so long.
const ANSWER_LEAVES: Micros = 200_000;
/// Between two looks at the button: longer than it bounces, shorter than anyone presses it.
const LOOK: Duration = Duration::from_millis(25);

/// Sixteen steps, the highest bit first.
type Rhythm = u16;
const NO_CONFIGURATION: Rhythm = 0b1010_1010_1010_1010;
const WAITING: Rhythm = 0b1000_0000_1000_0000;
const MISWIRED: Rhythm = 0b1010_1000_0000_0000;
const ALL_UP: Rhythm = 0b1111_1111_1111_1111;

/// The LED's rhythm, and whether traffic makes it flicker.
fn show(shell: &Shell) -> (Rhythm, bool) {
    match &mut *shell.brain() {
        Brain::Lobby(_) => (NO_CONFIGURATION, false),
        Brain::Mesh(mesh) => {
            mesh.node.card_mut().stack_free = shell.about.stack_free.get();
            let traffic = core::mem::take(&mut mesh.watch.traffic);
            match (mesh.watch.miswired, mesh.node.all_links_up()) {
                (0, true) => (ALL_UP, traffic),
                (0, false) => (WAITING, traffic),
                _ => (MISWIRED, false),
            }
        }
    }
}

pub(crate) async fn live<W: Instance>(
    shell: &Shell,
    mut led: Output<'static>,
    mut watchdog: IndependentWatchdog<'static, W>,
    mut flash: Flash<'static, Blocking>,
) -> ! {
    let mut ticker = Ticker::every(STEP);
    let mut probe = StackProbe::new();
    let mut step = 0;
    let mut flicker = false;
    watchdog.unleash();
    loop {
        watchdog.pet();
        if let Some(free) = probe.step() {
            shell.about.stack_free.set(free);
        }
        let (rhythm, traffic) = show(shell);
        flicker = traffic && !flicker;
        let lit = rhythm << step & 0x8000 != 0;
        led.set_level((lit != flicker).into());
        step = (step + 1) % Rhythm::BITS;
        match shell.order.take() {
            Some((order, since)) if now() >= since + ANSWER_LEAVES => {
                watchdog.pet();
                carry_out(&order, &mut flash);
            }
            order => shell.order.set(order),
        }
        ticker.next().await;
    }
}

fn carry_out(order: &Order, flash: &mut Flash<'static, Blocking>) {
    if let Order::WritePage(page) = order {
        if !configuration::write(flash, page) {
            defmt::error!("the configuration page could not be written");
            return;
        }
        defmt::info!("the configuration page is written");
    }
    SCB::sys_reset();
}

/// Looks at the button now and then: it needs no interrupt, and does not bounce from one look to the next.
#[embassy_executor::task]
pub(crate) async fn watch_button(shell: &'static Shell, button: Input<'static>, pressed_high: bool) {
    let mut ticker = Ticker::every(LOOK);
    let is_pressed = || button.is_high() == pressed_high;
    let mut was_pressed = is_pressed();
    loop {
        ticker.next().await;
        let pressed = is_pressed();
        if pressed && !was_pressed {
            if let Brain::Mesh(mesh) = &mut *shell.brain() {
                mesh.broadcast_ping(now());
            }
            shell.look_around();
        }
        was_pressed = pressed;
    }
}

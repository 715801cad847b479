//! Programs that keep the processor to themselves, as far as they can. The node must not notice.

use embassy_stm32::i2c::{Config, I2c};
use embassy_stm32::peripherals::{I2C1, PB8, PB9};
use hopwise_firmware::Mesh;

/// For how long they do it.
const LONG: u64 = 3_500_000;
/// The address of a sensor with registers.
const SENSOR: u8 = 0x50;
/// Lines that are written.
const LINES: u32 = 2_000;
/// The last sector of the second slot, which is empty.
const SECTOR: core::ops::Range<u32> = 0x6_0000..0x8_0000;

fn wait(micros: u64, mesh: Mesh<'static>) {
    let end = mesh.uptime() + micros;
    while mesh.uptime() < end {}
}

/// Computes for half of every second.
pub(crate) async fn compute(mesh: Mesh<'static>) {
    let end = mesh.uptime() + LONG;
    while mesh.uptime() < end {
        wait(500_000, mesh);
        mesh.sleep(500_000).await;
    }
    defmt::info!("computed");
}

/// Reads a sensor by calls that block.
pub(crate) fn read_sensor(mesh: Mesh<'static>) {
    let config = Config::default();
    // SAFETY: the firmware uses neither this port nor its pins, and nothing else here does.
    let mut port = unsafe { I2c::new_blocking(I2C1::steal(), PB8::steal(), PB9::steal(), config) };
    let (mut sum, mut failed) = (0, 0);
    let end = mesh.uptime() + LONG;
    while mesh.uptime() < end {
        let mut registers = [0; 200];
        failed += u32::from(port.blocking_write_read(SENSOR, &[0], &mut registers).is_err());
        sum = registers.iter().map(|&byte| u32::from(byte)).sum();
        // embassy does not wait until the bus is free again, not even for a byte that follows because the node interrupted.
        wait(200, mesh);
    }
    defmt::info!("sensor {}, {} failed", sum, failed);
}

/// Has no interrupt served for a millisecond, again and again.
pub(crate) fn mask_interrupts(mesh: Mesh<'static>) {
    let end = mesh.uptime() + LONG;
    while mesh.uptime() < end {
        cortex_m::interrupt::free(|_| wait(1_000, mesh));
    }
    defmt::info!("masked");
}

/// Writes lines as fast as a probe reads them.
pub(crate) fn write_log(mesh: Mesh<'static>) {
    for line in 0..LINES {
        defmt::info!("line {} of a program", line);
        wait(1_000, mesh);
    }
}

/// Erases a large part of the flash, during which the core stands still.
pub(crate) async fn change_flash(mesh: Mesh<'static>) {
    let change = hopwise_firmware::change_flash(mesh, 2_000_000, |flash| {
        flash.blocking_erase(SECTOR.start, SECTOR.end).is_ok()
    });
    let done = change.await;
    defmt::info!("flash changed: {}", done);
}

pub(crate) fn hang() -> ! {
    loop {
        cortex_m::asm::wfi();
    }
}

use hopwise_emulator::image::Image;
use hopwise_emulator::time::MILLISECOND;
use hopwise_emulator::world::{Board, BoardOptions, World};
use std::sync::Arc;
fn main() {
    for name in std::env::args().skip(1) {
        println!("== {name}");
        let elf = std::fs::read(format!(
            "target/firmware/{name}/thumbv7em-none-eabihf/release/hopwise-firmware"
        ))
        .unwrap();
        let image = Arc::new(Image::from_elf(&elf).unwrap());
        let kind = hopwise_emulator::boards::find(&name).unwrap();
        let mut world = World::new(1);
        world.add(Board::new(&image, BoardOptions::of(kind)));
        for ms in [1, 5, 50, 500] {
            world.run_until(ms * MILLISECOND);
            let b = &world.boards()[0];
            println!(
                "{ms} ms: pc {:#x} {:?} hclk {} resets {} faults {} instr {} asleep {} log {}",
                b.cpu.next,
                image.function_at(b.cpu.next).map(|f| &f.name),
                b.cpu.bus.clocks().hclk,
                b.resets(),
                b.faults().len(),
                b.cpu.instructions,
                b.is_asleep(),
                0
            );
        }
        let b = &mut world.boards_mut()[0];
        println!("log bytes {}", b.take_log().iter().map(|(_, l)| l.len()).sum::<usize>());
        println!("remarks {:#?}", b.remarks());
        println!("violations {:#?}", b.violations());
        if let Some(f) = b.faults().first() {
            println!("{f:#?}");
        }
    }
}

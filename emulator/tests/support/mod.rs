//! The test firmware: built when the compiler can build for ARM, and boards in a chain that run it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

use hopwise_emulator::image::Image;
use hopwise_emulator::world::{Board, BoardOptions, Port, World};

/// Where the firmware looks for what it shall do.
const PAGE: u32 = 0x0806_0000;
const MAGIC: u32 = 0x686f_7077;
/// The serial ports to the next and to the previous board of the chain.
pub(crate) const RIGHT: usize = 0;
/// See [`RIGHT`].
pub(crate) const LEFT: usize = 2;

/// The firmware, or `None` if there is no ARM compiler.
pub(crate) fn firmware() -> Option<Arc<Image>> {
    static IMAGE: OnceLock<Option<Arc<Image>>> = OnceLock::new();
    IMAGE.get_or_init(|| Some(image(&elf()?))).clone()
}

pub(crate) fn image(elf: &Path) -> Arc<Image> {
    let elf = std::fs::read(elf).expect("the ELF file");
    Arc::new(Image::from_elf(&elf).expect("firmware"))
}

/// The ELF file of the firmware. If there is no ARM compiler that is said on the terminal, even where tests are quiet.
pub(crate) fn elf() -> Option<PathBuf> {
    let tool = repository().join("tools/arm-target");
    match Command::new(tool).arg("--check").output() {
        Ok(output) if output.status.success() => Some(build(String::from_utf8_lossy(&output.stdout).trim())),
        _ => {
            let mut terminal = std::io::stderr();
            let _ = writeln!(
                terminal,
                "\n*** NOT TESTED: no ARM core library, so the embassy firmware was not built and not run. \
                 Run tools/arm-target once. ***\n"
            );
            None
        }
    }
}

/// The folder that holds the whole repository, whichever crate's tests use this.
fn repository() -> &'static Path {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    folders
        .find(|folder| folder.join("tools/arm-target").is_file())
        .expect("the repository")
}

fn build(toolchain: &str) -> PathBuf {
    let source = repository().join("emulator/tests/firmware");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("firmware");
    let status = Command::new("cargo")
        .args([
            "build",
            "--release",
            "--quiet",
            "--locked",
            "--target",
            "thumbv7em-none-eabihf",
        ])
        .current_dir(source)
        .env("RUSTUP_TOOLCHAIN", toolchain)
        .env("CARGO_TARGET_DIR", &target)
        .env_remove("RUSTFLAGS")
        // Set by the cargo that runs this test, for its own compiler.
        .env_remove("CARGO")
        .env_remove("RUSTC")
        .status()
        .expect("cargo");
    assert!(status.success(), "the test firmware does not build");
    target.join("thumbv7em-none-eabihf/release/emulator-test-firmware")
}

/// A board that sends `frames` frames on each of some links.
pub(crate) fn board(image: &Arc<Image>, frames: u32, baud: u32, links: u32, options: BoardOptions) -> Board {
    let mut board = Board::new(image, options);
    let words = [MAGIC, frames, baud, links].into_iter();
    let page: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    board.write_flash(PAGE, &page).expect("the page is in the flash");
    board
}

/// A chain of boards that send `frames` frames to each neighbor.
pub(crate) fn chain(
    image: &Arc<Image>,
    boards: usize,
    frames: u32,
    baud: u32,
    options: impl Fn(usize) -> BoardOptions,
) -> World {
    let mut world = World::new(1);
    for number in 0..boards {
        let links = u32::from(number + 1 < boards) | u32::from(number > 0) << 1;
        world.add(board(image, frames, baud, links, options(number)));
    }
    for number in 1..boards {
        world
            .wire(Port::new(number - 1, RIGHT), Port::new(number, LEFT))
            .expect("a free port");
    }
    world
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "not every test reads all of them")]
pub(crate) struct LinkResult {
    pub(crate) sent: u32,
    /// Frames received in order and intact.
    pub(crate) good: u32,
    /// Bytes that were part of no frame.
    pub(crate) bad: u32,
    pub(crate) missing: u32,
    /// Errors that the receiver reported.
    pub(crate) errors: u32,
}

/// The counters of a board's links: the right one first, then the left one, then the others.
pub(crate) fn results(board: &Board) -> [LinkResult; 6] {
    let words = board.variable("RESULTS", 30).expect("the counters");
    std::array::from_fn(|link| LinkResult {
        sent: words[link * 5],
        good: words[link * 5 + 1],
        bad: words[link * 5 + 2],
        missing: words[link * 5 + 3],
        errors: words[link * 5 + 4],
    })
}

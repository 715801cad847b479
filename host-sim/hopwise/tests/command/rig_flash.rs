//! Flashing, against a stand-in for the probe-rs program that writes down how it was called.

use crate::support::{Folder, elf, failed, hopwise, like, printed, refuses};
use hopwise_node::store::{COMMITTED_BYTES, committed, last_epoch_in};
use hopwise_node::wire::{BoardConfig, CONFIG_BYTES};

const MESH: &str = r#"
network = "ring(3)"
board = "nucleo-l476rg"
log-packets = true

[[node]]
address = 0
probe = "AA00"
[[node]]
address = 1
probe = "BB11"
name = "one"
[[node]]
address = 2
probe = "0483:3752:CC22"
"#;

/// Writes its arguments into `calls`, a line a call, and keeps the configs; board BB11 fails at its config.
fn stand_in(folder: &Folder) -> String {
    let here = folder.folder().display();
    folder.stand_in(&format!(
        "echo \"$*\" >> '{here}/calls'\n\
         for file in \"$@\"; do :; done\n\
         case \"$*\" in\n\
         *BB11*bin*) echo 'Error: noise' >&2; echo '  the chip is locked' >&2; exit 1;;\n\
         *config-*) cp \"$file\" '{here}/';;\n\
         esac"
    ))
}

fn calls(folder: &Folder) -> Vec<String> {
    let text = std::fs::read_to_string(folder.path("calls")).unwrap_or_default();
    text.lines().map(String::from).collect()
}

/// The calls of one board, without the folder of the configs.
fn calls_of(folder: &Folder, probe: &str) -> Vec<String> {
    let without_folder = |call: &String| {
        let words = call.split(' ').map(|word| word.rsplit('/').next().unwrap_or(word));
        words.collect::<Vec<_>>().join(" ")
    };
    let calls = calls(folder);
    let own = calls.iter().filter(|call| call.contains(probe));
    own.map(without_folder).collect()
}

#[test]
fn every_board_gets_image_config_and_reset_and_failures_are_named() {
    let folder = Folder::new("flash");
    let mesh = folder.write("mesh.toml", MESH);
    let image = folder.write("image.elf", "");
    let program = stand_in(&folder);
    let (said, error) = failed(&["flash", &mesh, "--elf", &image, "--probe-rs", &program]);
    assert_eq!(
        said,
        "2 of 3 boards flashed\n  board 1 (probe 0483:374b:BB11) failed at its config: the chip is locked\n"
    );
    assert_eq!(
        error,
        format!("hopwise: not flashed: 1 of 3 boards; to retry only those: hopwise flash {mesh} --only 1\n")
    );
    let board = |probe: &str| format!("--chip STM32L476RG --probe {probe}");
    let config = "--binary-format bin --base-address 0x080fe000 --disable-progressbars --verify";
    for (node, probe) in [(0, "0483:374b:AA00"), (2, "0483:3752:CC22")] {
        assert_eq!(
            calls_of(&folder, probe),
            [
                format!("download {} --disable-progressbars --verify image.elf", board(probe)),
                format!("download {} {config} config-{node}.bin", board(probe)),
                format!("reset {}", board(probe)),
            ]
        );
        let bytes = std::fs::read(folder.path(&format!("config-{node}.bin"))).unwrap();
        let config = BoardConfig::read(bytes[..CONFIG_BYTES].try_into().unwrap()).unwrap();
        let found = (config.address, config.expression.as_str(), config.options);
        assert_eq!(found, (node, "ring(3)", 0b1001));
        // The other slot is emptied.
        assert!(bytes.len() > 4096 && bytes[COMMITTED_BYTES..].iter().all(|byte| *byte == 0xff));
    }
    assert_eq!(calls_of(&folder, "BB11").len(), 2, "it is not reset after a failure");
    // Only the one that failed is tried again.
    std::fs::remove_file(folder.path("calls")).unwrap();
    hopwise(&["flash", &mesh, "--elf", &image, "--probe-rs", &program, "--only", "1"]);
    assert!(calls(&folder).iter().all(|call| call.contains("BB11")));
    let config_folder = calls(&folder)[1].rsplit(' ').next().map(std::path::PathBuf::from);
    let config_folder = config_folder.unwrap();
    assert!(!config_folder.exists(), "configs are cleaned away");
}

/// Whatever the host's clock says, a board with keys never has the number of a start again.
#[test]
fn a_board_with_keys_counts_its_starts_on() {
    let folder = Folder::new("flash-epoch");
    let key = "key = \"000102030405060708090a0b0c0d0e0f\"\n";
    let mesh = folder.write("mesh.toml", &format!("{key}{MESH}"));
    let image = folder.write("image.elf", "");
    let here = folder.folder().display();
    let program = folder.stand_in(&format!(
        "for file in \"$@\"; do :; done\n\
         case \"$*\" in\n\
         *AA00*b32*) cat '{here}/slots';;\n\
         *BB11*b32*) head -c 8192 /dev/zero;;\n\
         *CC22*b32*) tr '\\\\0' '\\\\377' < /dev/zero | head -c 8192;;\n\
         *config-*) cp \"$file\" '{here}/';;\n\
         esac"
    ));
    // The slots of node 0: flashed when the clock of the host was far ahead, and started once since.
    let far: u32 = 0xa000_0000;
    let config = BoardConfig::new("ring(3)", 0).unwrap().write();
    let mut slots = committed(&config, None, far).to_vec();
    slots.extend([0xff; 32]);
    slots.extend((far + 1).to_le_bytes());
    slots.extend((!(far + 1)).to_le_bytes());
    slots.extend([0; 24]);
    slots.resize(8192, 0xff);
    std::fs::write(folder.path("slots"), slots).unwrap();
    printed(&["flash", &mesh, "--elf", &image, "--probe-rs", &program]);
    let epoch = |node: u64| {
        let bytes = std::fs::read(folder.path(&format!("config-{node}.bin"))).unwrap();
        assert_eq!(
            last_epoch_in(&bytes),
            Some(u32::from_le_bytes(bytes[CONFIG_BYTES + 8..][..4].try_into().unwrap()))
        );
        last_epoch_in(&bytes).unwrap()
    };
    assert_eq!(epoch(0), far + 1);
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() as u32;
    assert!([1, 2].iter().all(|node| now - epoch(*node) < 1_000));
    // What cannot be read is not flashed.
    std::fs::write(folder.path("slots"), [0xff; 9]).unwrap();
    let output = hopwise(&["flash", &mesh, "--only", "0", "--elf", &image, "--probe-rs", &program]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.contains("failed at its number of starts: 9 of 8192 bytes were read"),
        "{said}"
    );
}

#[test]
fn a_probe_that_hangs_is_given_up_and_the_others_are_flashed() {
    let folder = Folder::new("flash-hangs");
    let mesh = folder.write("mesh.toml", MESH);
    let image = folder.write("image.elf", "");
    let here = folder.folder().display().to_string();
    let program = folder.stand_in(&format!(
        "echo \"$*\" >> '{here}/calls'\ncase \"$*\" in *BB11*) echo waiting; exec sleep 60;; esac"
    ));
    let begin = std::time::Instant::now();
    let (said, error) = failed(&["flash", &mesh, "--limit", "1", "--elf", &image, "--probe-rs", &program]);
    like(
        &(said + &error),
        "[..]no end after 1 s: unplug the board and plug it in again[..]",
    );
    assert!(begin.elapsed().as_secs() < 30, "the stand-in sleeps for a minute");
    let found = (calls_of(&folder, "AA00").len(), calls_of(&folder, "BB11").len());
    assert_eq!(found, (3, 1));
}

#[test]
fn a_dry_run_shows_the_calls_and_makes_none() {
    let folder = Folder::new("flash-dry");
    let mesh = folder.write("mesh.toml", MESH);
    let program = stand_in(&folder);
    let said = printed(&["flash", &mesh, "--dry-run", "--only", "2,0", "--probe-rs", &program]);
    assert_eq!(said.lines().count(), 8, "{said}");
    let [image, loader, config] = [0, 1, 2].map(|number| said.lines().nth(number).unwrap());
    let are_built = image.ends_with("release/hopwise-firmware") && loader.ends_with("release/hopwise-boot");
    assert!(are_built, "{said}");
    assert!(config.contains("--base-address 0x080fe000"), "{said}");
    assert!(calls(&folder).is_empty());
}

/// Images of a release, or of one's own with a boot loader beside it.
#[test]
fn the_boot_loader_comes_after_the_image() {
    let folder = Folder::new("flash-loader");
    let mesh = folder.write("mesh.toml", MESH);
    let program = stand_in(&folder);
    let [image, loader] = ["nucleo-l476rg.elf", "nucleo-l476rg-boot.elf"].map(|name| folder.write(name, ""));
    let images = folder.folder().display().to_string();
    for args in [
        &["--images", images.as_str()][..],
        &["--elf", image.as_str(), "--loader", loader.as_str()],
    ] {
        let _ = std::fs::remove_file(folder.path("calls"));
        let flash = ["flash", mesh.as_str(), "--probe-rs", program.as_str(), "--only", "0"];
        printed(&[&flash, args].concat());
        let calls = calls_of(&folder, "AA00");
        let files: Vec<_> = calls.iter().filter_map(|call| call.rsplit(' ').next()).collect();
        assert_eq!(
            files,
            [
                "nucleo-l476rg.elf",
                "nucleo-l476rg-boot.elf",
                "config-0.bin",
                "0483:374b:AA00"
            ]
        );
    }
    std::fs::remove_file(&loader).unwrap();
    refuses(&format!(
        "flash {mesh} --images {images} --probe-rs {program} => [..]there is no nucleo-l476rg-boot.elf in this folder of images"
    ));
}

#[test]
fn what_cannot_be_flashed_is_refused() {
    let folder = Folder::new("flash-refused");
    let mesh = folder.mesh("mesh.toml", "ring(3)", "[[node]]\naddress = 1\nprobe = \"A\"\n");
    let image = folder.write("image.elf", "");
    let one = format!("flash {mesh} --only 1 --elf {image} --probe-rs");
    // Through the mesh no probe is asked for, and all boards get the same image.
    refuses(&format!(
        r#"
        flash {mesh} => the mesh file names no probe for 0, 2: `hopwise mesh assign MESH.toml` writes them [..]
        flash {mesh} --only 5 => ring(3) has no node 5
        flash {mesh} --port /nowhere => /nowhere: [..]
        flash {mesh} --port /nowhere --app hello => without probes, your own program comes as an update: `hopwise update [..]
        {one} /no/such/program => there is no program '/no/such/program': https://probe.rs says how to install probe-rs, and --probe-rs says where it is if not in PATH
        {one} echo => 'echo' is not probe-rs: it does not say which version it has
        "#
    ));
    let some = hopwise(&["flash", &mesh, "--port", "/nowhere", "--only", "1"]);
    assert_eq!(some.status.code(), Some(2));
}

#[test]
fn emulated_boards_have_the_configs_of_the_mesh_file() {
    let Some(elf) = elf() else { return };
    let folder = Folder::new("flash-emulated");
    let node = "baud = 115200\nprobe = \"emulated\"\n[[node]]\naddress = 5\nname = \"five\"\n";
    let mesh = folder.mesh("mesh.toml", "heawood", node);
    let said = printed(&["flash", &mesh, "--elf", elf]);
    assert_eq!(said, "14 of 14 emulated boards have their config\n");
}

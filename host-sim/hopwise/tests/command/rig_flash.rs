//! Flashing, against a stand-in for the probe-rs program that writes down how it was called.

use crate::support::{Folder, failed, hopwise, printed};
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
    let mut slots = committed(&config, None, None, far).to_vec();
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

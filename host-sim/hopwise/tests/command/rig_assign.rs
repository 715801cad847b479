//! Boards plugged in one after the other, with a stand-in for probe-rs that lists those of a file.

use std::process::Stdio;
use std::time::Duration;

use crate::running::Ending;
use crate::support::{Folder, command, printed, until};

const MESH: &str = "\
# Three boards on a shelf.
network = \"ring(3)\"   # small
board = \"nucleo-f446re\"

[[node]]
address = 0
# probe = \"\"

[[node]]
address = 1
name = \"north\"   # by the window
probe = \"BB11\"
";

const LIST: &str = "case \"$1\" in list) cat FOLDER/probes;; reset) echo \"$*\" >> FOLDER/calls;; esac";

#[test]
fn boards_that_are_plugged_in_are_written_into_the_file() {
    let folder = Folder::new("assign");
    let mesh = folder.write("mesh.toml", MESH);
    let here = folder.folder().to_str().expect("UTF-8");
    let probe_rs = folder.stand_in(&LIST.replace("FOLDER", here));
    let plugged = |probes: &[&str]| {
        let lines = probes.iter().enumerate();
        let lines: Vec<String> = lines
            .map(|(number, probe)| format!("[{number}]: STLink V2-1 -- {probe} (ST-LINK)\n"))
            .collect();
        // Whole or not at all: the other program reads it all the time.
        let found = format!("The following debug probes were found:\n{}", lines.concat());
        let new = folder.write("probes.new", &found);
        std::fs::rename(new, folder.path("probes")).expect("a file");
    };
    let has = |text: &str| std::fs::read_to_string(&mesh).expect("the file").contains(text);
    // That of node 1 is there already, and a probe that is none of ours.
    plugged(&["0483:374b:BB11", "1366:0101:123"]);
    let mut command = command(&["mesh", "assign", &mesh, "--probe-rs", &probe_rs]);
    let command = Ending::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(std::fs::read_to_string(&mesh).unwrap(), MESH, "nothing new is there");
    plugged(&["0483:374b:BB11", "0483:374b:AA00", "0483:374e:CC22"]);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(std::fs::read_to_string(&mesh).unwrap(), MESH, "two are new");
    plugged(&["0483:374b:BB11", "0483:374b:AA00"]);
    until(30, || has("AA00"));
    plugged(&["0483:374b:BB11", "0483:374b:AA00", "0483:374e:CC22"]);
    let output = command.wait();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let expected = MESH.replace("address = 0\n# probe = \"\"\n", "address = 0\nprobe = \"AA00\"\n");
    let with_third = format!("{expected}\n[[node]]\naddress = 2\nprobe = \"0483:374e:CC22\"\n");
    assert_eq!(std::fs::read_to_string(&mesh).unwrap(), with_third);
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "node 0  ring(3)  nucleo-f446re\n  \
           0  USART1   TX PA9 CN10-21 (D8)  RX PA10 CN10-33 (D2)  to 1.1\n  \
           1  USART3   TX PB10 CN10-25 (D6)  RX PC5 CN10-6  to 2.0\n\
         node 2  ring(3)  nucleo-f446re\n  \
           0  USART1   TX PA9 CN10-21 (D8)  RX PA10 CN10-33 (D2)  to 0.1\n  \
           1  USART3   TX PB10 CN10-25 (D6)  RX PC5 CN10-6  to 1.0\n"
    );
    let said = String::from_utf8(output.stderr).unwrap();
    // Whether the last board is asked for depends on how soon it is there.
    let said = said.replace("plug in the board of node 2\n", "");
    assert_eq!(
        said.lines().collect::<Vec<_>>(),
        [
            "plug in the board of node 0",
            "several boards are new (0483:374b:AA00, 0483:374e:CC22): unplug all but that of node 0",
            &format!("every node of {mesh} has a probe"),
        ]
    );
    let calls = std::fs::read_to_string(folder.path("calls")).unwrap();
    let blinks = |probe: &str| calls.lines().filter(|call| call.ends_with(probe)).count();
    assert_eq!((blinks("AA00"), blinks("CC22"), blinks("BB11")), (3, 3, 0), "{calls}");
    // All is assigned: it ends at once.
    printed(&["mesh", "assign", &mesh, "--probe-rs", &probe_rs]);
}

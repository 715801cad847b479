//! `hopwise doctor`, on emulated boards.

use crate::support::{Folder, elf, hopwise, json, refuses, words};

#[test]
fn a_good_board_gets_a_report_to_paste() {
    let Some(elf) = elf() else { return };
    let folder = Folder::new("doctor");
    let report = folder.path("report.txt");
    let output = hopwise(&["doctor", "--emulated", "--elf", elf, "-o", &report]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0), "{output:?}");
    let report = std::fs::read_to_string(&report).expect("a report");
    for line in [
        "good   board         nucleo-f446re, chip ",
        "good   links         USART6: hears itself",
    ] {
        assert!(report.contains(line), "{report}");
    }
    assert!(!report.contains("FAULT"), "{report}");
}

#[test]
fn a_fault_is_named_and_the_exit_status_says_so() {
    let Some(elf) = elf() else { return };
    let (status, found) = json(&words("doctor --emulated --elf {} --fault cut-jumper=1 --json", &[elf]));
    assert_eq!((status, &found["healthy"]), (1, &false.into()), "{found}");
    let findings = found["findings"].as_array().expect("a list").iter();
    let faults = findings.filter(|finding| finding["verdict"] == "fault");
    let faults: Vec<&str> = faults.filter_map(|finding| finding["text"].as_str()).collect();
    let fault = "USART3: nothing arrives: does the wire join TX PB10 (CN10-25) and RX PC5 (CN10-6)?";
    assert_eq!(faults, [fault]);
}

#[test]
fn bad_input_is_refused_in_one_sentence() {
    if let Some(elf) = elf() {
        refuses(&format!(
            "doctor --emulated --elf {elf} --fault stuck-jumper=5 => emulated boards have no link 5"
        ));
    }
}

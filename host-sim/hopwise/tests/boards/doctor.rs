//! The doctor passes a good board and names each fault that the emulator can make.

use crate::firmware_support::{KEYS, config, firmware, told};
use hopwise_emulate::doctor::{BoardFault, EmulatedPatient};
use hopwise_emulate::setup::Program;
use hopwise_host::talk::{Reply, Talk};
use hopwise_node::authority::MeshKeys;
use hopwise_node::wire::{CONFIG_BYTES, Command};
use hopwise_rig::doctor::{Examination, Verdict, examine};

/// What is found, and the config that the board has afterwards.
fn examined(
    config: &[u8; CONFIG_BYTES],
    keys: Option<MeshKeys>,
    faults: &[BoardFault],
) -> Option<(Examination, Vec<u8>)> {
    let program = Program::on_default(&firmware()?.image);
    let mut patient = EmulatedPatient::new(&program, config, keys, faults).expect("a board");
    let examination = examine(&mut patient);
    let request = told(0, patient.entrances()[0], &Command::ReadConfig);
    let stored = match patient.ask(&[request]).remove(0) {
        Some(Reply::Response(bytes)) => bytes,
        _ => Vec::new(),
    };
    Some((examination, stored))
}

pub(crate) fn faults(examination: &Examination) -> Vec<String> {
    let faults = examination.faults();
    faults
        .map(|finding| format!("{}: {}", finding.what, finding.text))
        .collect()
}

#[test]
fn a_good_board_passes_and_keeps_its_config() {
    for (config, keys) in [
        (config("ring(5)", 3), None),
        ([0xff; CONFIG_BYTES], None),
        (config("ring(5)", 3), Some(KEYS)),
    ] {
        let Some((examination, stored)) = examined(&config, keys, &[]) else {
            return;
        };
        assert_eq!(faults(&examination), [""; 0], "{examination}");
        assert_eq!(stored, config, "its config is back");
        let good = |what: &str| {
            let findings = examination.findings.iter();
            findings
                .filter(|finding| finding.what == what && finding.verdict == Verdict::Good)
                .count()
        };
        let all = [
            "board",
            "configuration",
            "flash",
            "clock",
            "baud",
            "links",
            "watchdog",
            "stack",
        ]
        .map(good);
        assert_eq!(all, [1, 1, 2, 1, 1, 5, 1, 2], "{examination}");
    }
}

#[test]
fn every_fault_is_named() {
    let cases = [
        (BoardFault::NoExternalClock, "board: it says: no external clock"),
        (BoardFault::LateExternalClock, "board: it says: no external clock"),
        // By 2 %, as far as the time that messages take lets it be measured.
        (BoardFault::WrongClock, "clock: +"),
        (
            BoardFault::CutJumper(2),
            "links: UART4: nothing arrives: does the wire join TX PA0 (CN7-28) and RX PA1 (CN7-30)?",
        ),
        (
            BoardFault::SwappedPort(0, 3),
            "links: USART1: what it sends arrives at UART5: the wire must join TX PA9",
        ),
        (BoardFault::NoisyJumper(4), "links: USART6: "),
        (
            BoardFault::StuckJumper(3),
            "links: UART5: nothing arrives: does the wire join TX PC12 ",
        ),
        (BoardFault::Flash(1), "flash: one slot does not hold what is written"),
        (
            BoardFault::Flash(0),
            "flash: the other slot does not hold what is written",
        ),
        (
            BoardFault::SlowWatchdog,
            "watchdog: it does not restart a board that hangs",
        ),
    ];
    for (fault, sentence) in cases {
        let Some((examination, stored)) = examined(&config("ring(5)", 3), None, &[fault]) else {
            return;
        };
        let found = faults(&examination);
        let is_it = found.len() == 1 && found[0].starts_with(sentence);
        assert!(is_it, "{fault:?}: {found:?}");
        if fault == BoardFault::WrongClock {
            let (percent, rest) = found[0][sentence.len()..].split_once(' ').unwrap();
            let percent: f64 = percent.parse().unwrap();
            assert!((1.95..2.05).contains(&percent), "{found:?}");
            assert_eq!(rest, "% against this host's: no cable carries that");
        }
        if fault != BoardFault::SlowWatchdog {
            assert_eq!(stored, config("ring(5)", 3), "{fault:?}: its config is there");
        }
    }
}

//! The doctor passes a good board and names each fault that the emulator can make.

use crate::firmware_support::{KEYS, config, firmware, told};
use hopwise_emulate::doctor::{BoardFault, EmulatedPatient};
use hopwise_emulate::setup::Program;
use hopwise_host::talk::{Reply, Talk};
use hopwise_node::authority::MeshKeys;
use hopwise_node::wire::{CONFIG_BYTES, Command};
use hopwise_rig::doctor::{Examination, Scope, Verdict, examine, examine_cable};

/// What is found, and the config that the board has afterwards.
fn examined(
    config: &[u8; CONFIG_BYTES],
    keys: Option<MeshKeys>,
    faults: &[BoardFault],
) -> Option<(Examination, Vec<u8>)> {
    let program = Program::on_default(&firmware()?.image);
    let mut patient = EmulatedPatient::new(&program, config, keys, faults).expect("a board");
    let examination = examine(&mut patient, Scope::Short);
    let request = told(0, patient.mesh.entrances()[0], &Command::ReadConfig);
    let stored = match patient.mesh.ask(&[request]).remove(0) {
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

/// What is found of the other faults: transcripts/doctor.txt.
#[test]
fn a_bad_board_keeps_its_config_too() {
    for (fault, sentence) in [
        (BoardFault::WrongClock, "clock: +"),
        (BoardFault::StuckJumper(3), "links: UART5: nothing arrives: "),
        (
            BoardFault::Flash(0),
            "flash: the other slot does not hold what is written",
        ),
        (BoardFault::Flash(1), "flash: one slot does not hold what is written"),
    ] {
        let Some((examination, stored)) = examined(&config("ring(5)", 3), None, &[fault]) else {
            return;
        };
        let found = faults(&examination);
        assert!(
            found.len() == 1 && found[0].starts_with(sentence),
            "{fault:?}: {found:?}"
        );
        assert_eq!(stored, config("ring(5)", 3), "{fault:?}: its config is there");
    }
}

#[test]
fn a_cable_between_two_boards_is_examined_at_every_rate() {
    let Some(firmware) = firmware() else { return };
    let program = Program::on_default(&firmware.image);
    let config = config("ring(5)", 3);
    for (put_in, expected) in [
        (&[][..], Verdict::Good),
        (&[BoardFault::CutCable], Verdict::Fault),
        (&[BoardFault::NoisyCable], Verdict::Fault),
    ] {
        let mut patient = EmulatedPatient::of(&[&program; 2], &config, None, put_in).expect("boards");
        let examination = examine_cable(&mut patient);
        let verdicts = examination
            .findings
            .iter()
            .map(|finding| (finding.what, finding.verdict));
        assert_eq!(verdicts.collect::<Vec<_>>(), [("cable", expected); 8], "{examination}");
        let is_cut = put_in == [BoardFault::CutCable];
        let says_so =
            |text: &String| text.ends_with("the first board hears nothing: does its RX join the second's TX?");
        assert!(
            faults(&examination).iter().all(|text| says_so(text) == is_cut),
            "{examination}"
        );
        for at in 0..2 {
            let request = told(at, patient.mesh.entrances()[at], &Command::ReadConfig);
            let stored = patient.mesh.ask(&[request]).remove(0);
            assert!(
                stored == Some(Reply::Response(config.to_vec())),
                "board {at} has its config back"
            );
        }
    }
}

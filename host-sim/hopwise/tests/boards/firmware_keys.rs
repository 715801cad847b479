//! Boards with keys: who may talk to them, and who may change them. See `docs/keys.md`.

use crate::firmware_support::{KEYS, Rig, config, firmware, told};
use hopwise_emulate::setup;
use hopwise_emulator::time::{MILLISECOND, SECOND};
use hopwise_emulator::world::Action;
use hopwise_host::talk::{BoardRequest, Reply};
use hopwise_node::authority::{Challenge, MeshKeys, authorize, board_key};
use hopwise_node::key::{Key, Secret};
use hopwise_node::wire::{
    CONFIG_BYTES, Command, CommandResult, LinkFault, Pattern, Query, Status, Traffic, TrafficReport,
};

#[test]
fn a_mesh_with_keys_works_and_no_response_holds_a_key() {
    let Some(firmware) = firmware() else { return };
    let mut rig = Rig::keyed(firmware, "path(3)").linked();
    let report = rig.check();
    assert_eq!(report.findings, Vec::<String>::new());
    // Whatever a board can be asked.
    let queries = (0..=255).map(Query::Board);
    let requests = queries.map(|query| BoardRequest::new(0, 1, query).with(vec![0]));
    let requests: Vec<BoardRequest> = requests
        .filter(|request| !matches!(request.query, Query::Board(number) if Command::changes(number)))
        .collect();
    let secrets = [KEYS.mesh.key, board_key(&KEYS.management, 1)].map(|key| key.bytes()[..8].to_vec());
    for reply in rig.ask(&requests) {
        let Some(Reply::Response(bytes)) = reply else {
            panic!("no response")
        };
        let holds = |secret: &Vec<u8>| bytes.windows(secret.len()).any(|window| window == secret);
        assert!(!secrets.iter().any(holds), "{bytes:?}");
    }
}

/// Hosts that have the key of the mesh, as every board has, but not that of the host.
#[test]
fn a_board_is_changed_only_by_who_has_the_management_key() {
    let Some(firmware) = firmware() else { return };
    for wrong in [None, Some(Key::new([9; 16]))] {
        let mut rig = Rig::locked(firmware, "path(3)", wrong).linked();
        let config = config("path(3)", 1);
        let traffic = Traffic::new(10, 10, Pattern::Neighbors, 20);
        let commands = [
            Command::WriteConfig(&config),
            Command::WriteConfig(&[0xff; CONFIG_BYTES]),
            Command::Restart,
            Command::Broadcast(b"all"),
            Command::StartTraffic(traffic),
            Command::LogPackets(true),
            Command::KeepConfig,
        ];
        let requests = commands
            .iter()
            .flat_map(|command| [0, 1].map(|dest| told(0, dest, command)));
        // To one with a wrong key no board can prove its challenge, and it sends no command.
        let expected = (wrong.is_none()).then_some(CommandResult::NotAllowed);
        for request in requests.collect::<Vec<_>>().chunks(4) {
            for (reply, request) in rig.ask(request).iter().zip(request) {
                assert_eq!(reply.as_ref().and_then(Reply::read), expected, "{request:?}");
            }
        }
        assert_eq!(rig.ask_one::<TrafficReport>(told(0, 1, &Command::Traffic)).sent, 0);
    }
    let mut rig = Rig::keyed(firmware, "path(3)").linked();
    for number in 0..3 {
        let challenge: Challenge = rig.ask_one(told(0, 1, &Command::Challenge));
        assert_eq!(challenge.number, number);
        rig.have_done(told(0, 1, &Command::LogPackets(true)));
    }
}

/// What the host said once, or before a restart, is not obeyed when someone says it again.
#[test]
fn a_command_is_obeyed_once() {
    let Some(firmware) = firmware() else { return };
    let mut rig = Rig::locked(firmware, "path(3)", None).linked();
    let committed = |rig: &mut Rig| {
        let challenge: Challenge = rig.ask_one(told(0, 1, &Command::Challenge));
        let key = board_key(&KEYS.management, 1);
        let restart = authorize(&key, &challenge, Command::Restart.number(), &[]);
        BoardRequest::new(0, 1, Command::Restart.query()).with(restart.expect("it fits").to_vec())
    };
    let (before, first) = (rig.identity(1).epoch, committed(&mut rig));
    for (request, done) in [(&first, CommandResult::Done), (&first, CommandResult::NotAllowed)] {
        assert_eq!(rig.ask_one::<CommandResult>(request.clone()), done);
    }
    rig.run_for(2 * SECOND);
    rig.wait_for_links(SECOND);
    assert_eq!(rig.identity(1).epoch, before + 1);
    let found = rig.ask_one::<CommandResult>(first);
    assert_eq!(found, CommandResult::NotAllowed, "after the restart");
    let second = committed(&mut rig);
    rig.have_done(second);
}

/// Without keys anyone may do nearly anything, but a config from afar is taken only while someone holds the button.
#[test]
fn a_board_without_keys_takes_a_config_from_afar_only_with_its_button_held() {
    let Some(mut rig) = Rig::of("path(3)") else { return };
    rig.script(vec![(2 * SECOND, Action::Press(1)), (4 * SECOND, Action::Release(1))]);
    rig.wait_for_links(SECOND);
    let config = config("path(3)", 1);
    let write = told(0, 1, &Command::WriteConfig(&config));
    assert_eq!(rig.ask_one::<CommandResult>(write.clone()), CommandResult::NotAllowed);
    while rig.world.now() < 2 * SECOND + 100 * MILLISECOND {
        rig.run_for(50 * MILLISECOND);
    }
    rig.have_done(write);
    rig.run_for(3 * SECOND);
    assert!(rig.ask_one::<Status>(told(0, 1, &Command::Status)).on_trial);
}

#[test]
fn a_board_with_another_key_or_none_is_told_apart() {
    let Some(firmware) = firmware() else { return };
    let with = |key: Key, encrypts| MeshKeys {
        mesh: Secret::new(key, encrypts),
        ..KEYS
    };
    let another = with(Key::new([3; 16]), false);
    let encrypts = with(KEYS.mesh.key, true);
    for (keys, fault) in [
        (None, LinkFault::Unkeyed),
        (Some(another.of_board(1)), LinkFault::WrongKey),
        (Some(encrypts.of_board(1)), LinkFault::WrongKey),
    ] {
        let mut rig = Rig::keyed(firmware, "path(2)");
        let config = config("path(2)", 1);
        setup::configure(&mut rig.world.boards_mut()[1], &firmware.image, &config, keys, 5);
        rig.run_for(SECOND);
        let report = rig.link_report(0, 0);
        assert_eq!((report.up, report.fault), (false, fault));
        let log = rig.log();
        let reason = format!("{fault:?}");
        for board in [0, 1] {
            let told = log
                .iter()
                .filter(|line| line.board == board && line.text.contains(&reason));
            // By the neighbor, and at the other board by the host, too.
            assert!((1..=4).contains(&told.count()), "board {board}: {log:?}");
        }
    }
}

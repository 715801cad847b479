//! Boards without a config, which relay requests to each other.

use hopwise_node::endpoint::Endpoint;
use hopwise_node::limits::BODY;
use hopwise_node::store::Store;
use hopwise_node::wire::{
    BoardConfig, Body, Command, CommandResult, LinkReport, Packet, Query, Request, Status, WIRE, relay_arrivals,
    relay_request,
};
use hopwise_runner::{Board, Restart};

use crate::world::{Cables, HOST_PORT, Pipe, SECOND, Seen, Slots, World, board_config};
use crate::{ask, host};

const WRITE_CONFIG: Query = Query::Board(Command::WRITE_CONFIG);
const STATUS: Query = Query::Board(0);

/// Three boards in a row with a host at the first.
struct Row {
    world: World,
    slots: [Slots; 3],
    seen: Vec<Seen>,
    host: Endpoint<4>,
    host_cable: (Pipe, Pipe),
    /// What the first link of the third board says, and hears.
    end: (Pipe, Pipe),
}

/// A request to be relayed.
fn relayed(host: &mut Endpoint<4>, now: u64, route: &[u8], query: Query, payload: &[u8]) -> Packet<BODY> {
    let list: Body<{ BODY - Request::PREFIX }> = relay_request(route, query, payload).expect("it fits");
    host.request(0, Query::Relay, &list, now).expect("it fits")
}

/// A config for the board with this number.
fn named(number: u8, config: &[u8]) -> Vec<u8> {
    [&[number; 12], config].concat()
}

impl Row {
    /// The end of the row may be joined to itself.
    fn start(slots: [Slots; 3], third_crashes: bool, is_joined: bool) -> Self {
        let mut world = World::default();
        let mut ends: [Cables; 3] = Default::default();
        let pipes: [Pipe; 4] = Default::default();
        let says = Pipe::default();
        let end = (says.clone(), if is_joined { says } else { Pipe::default() });
        let host_cable: (Pipe, Pipe) = Default::default();
        ends[0][0] = (pipes[0].clone(), pipes[1].clone());
        ends[1][0] = (pipes[1].clone(), pipes[0].clone());
        ends[1][1] = (pipes[2].clone(), pipes[3].clone());
        ends[2][1] = (pipes[3].clone(), pipes[2].clone());
        ends[2][0] = (end.1.clone(), end.0.clone());
        ends[0][HOST_PORT] = (host_cable.1.clone(), host_cable.0.clone());
        let mut seen = Vec::new();
        for ((cables, slots), number) in ends.into_iter().zip(&slots).zip(0..) {
            let board = Board {
                unique_id: [number; 12],
                crashes_again: third_crashes && number == 2,
                ..Board::default()
            };
            seen.push(world.start_board(board, slots, cables, |_| async { unreachable!("there is no mesh") }));
        }
        world.run(SECOND / 2);
        Row {
            host: host(&world),
            world,
            slots,
            seen,
            host_cable,
            end,
        }
    }

    fn blank(is_joined: bool) -> Self {
        Row::start([(); 3].map(|()| Slots::blank()), false, is_joined)
    }

    /// The ports at which a request arrived, and the response.
    fn relay(&mut self, route: &[u8], query: Query, payload: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
        let request = relayed(&mut self.host, self.world.time.now(), route, query, payload);
        let bytes = ask(&mut self.world, &self.host_cable, &mut self.host, request)?;
        let (arrivals, response) = relay_arrivals(&bytes).expect("a list");
        Some((arrivals.collect(), response.to_vec()))
    }

    /// The result of a command; a tag may follow.
    fn command(&mut self, route: &[u8], query: Query, payload: &[u8]) -> CommandResult {
        let (_, response) = self.relay(route, query, payload).expect("a response");
        postcard::take_from_bytes(&response).expect("a result").0
    }
}

#[test]
fn whoever_is_reached_says_who_it_is_and_whom_it_hears() {
    let mut row = Row::blank(true);
    for (route, arrivals, number) in [
        (&[][..], &[2][..], 0),
        (&[0], &[2, 0], 1),
        (&[0, 1], &[2, 0, 1], 2),
        // Back and forth, and around the cable from the third board to itself.
        (&[0, 0, 0, 1], &[2, 0, 0, 0, 1], 2),
        (&[0, 1, 0, 0, 1], &[2, 0, 1, 0, 0, 1], 1),
    ] {
        let (found, response) = row.relay(route, STATUS, &[]).expect("a response");
        let status: Status = postcard::from_bytes(&response).expect("a status");
        let expected = (arrivals, [number; 12], 2);
        assert_eq!((&found[..], status.unique_id, status.links), expected, "{route:?}");
    }
    for (link, up) in [(0, Some(true)), (1, Some(true)), (3, None)] {
        let (_, response) = row.relay(&[0, 1], Query::Link, &[link]).expect("a response");
        let report: Option<LinkReport> = postcard::from_bytes(&response).expect("a report");
        assert_eq!(report.map(|report| report.up), up, "link {link}");
    }
    // Nothing else is answered, and nothing is forwarded to where nobody is.
    assert_eq!(row.command(&[0], Query::Ping, b"ping"), CommandResult::Unknown);
    for route in [&[1][..], &[7], &[0, 1, 2], &[0, 2]] {
        assert_eq!(row.relay(route, STATUS, &[]), None, "{route:?}");
    }
}

#[test]
fn a_config_is_taken_by_its_board_only_and_on_trial() {
    let mut row = Row::blank(true);
    let (bytes, bad) = (board_config(1), [1; 8]);
    let config = BoardConfig::shorten(&bytes);
    for (number, config, expected) in [
        (1, &config[..], CommandResult::OtherBoard),
        (2, &bad, CommandResult::BadConfig),
        (2, &bytes[..3], CommandResult::Unknown),
        (2, &config, CommandResult::Done),
    ] {
        assert_eq!(row.command(&[0, 1], WRITE_CONFIG, &named(number, config)), expected);
    }
    // Without its chip's number a command is for nobody.
    assert_eq!(row.command(&[0], Query::Board(3), &[]), CommandResult::OtherBoard);
    row.world.run(SECOND);
    let restarts = row.seen.iter().map(|seen| seen.restart.borrow().clone());
    assert!(restarts.eq([None, None, Some(Restart::Reconfigured)]));
    let start = Store::new(row.slots[2].clone()).start(1);
    assert_eq!((start.config, start.on_trial), (Some(bytes), true));
}

#[test]
fn of_two_hosts_the_first_gives_a_board_its_config() {
    let mut row = Row::blank(false);
    // Both are up.
    assert!(row.relay(&[0, 1], STATUS, &[]).is_some());
    let mut other = host(&row.world);
    let [first, second] = [0, 1].map(board_config);
    let payload = named(2, &BoardConfig::shorten(&first));
    let request = relayed(&mut other, row.world.time.now(), &[], WRITE_CONFIG, &payload);
    assert!(ask(&mut row.world, &row.end, &mut other, request).is_some());
    let payload = named(2, &BoardConfig::shorten(&second));
    assert_eq!(row.command(&[0, 1], WRITE_CONFIG, &payload), CommandResult::Busy);
    row.world.run(SECOND);
    assert_eq!(Store::new(row.slots[2].clone()).start(1).config, Some(first));
}

/// It has a config, and ignores it as long as it crashes.
#[test]
fn a_board_that_has_a_config_takes_no_other_from_a_neighbor() {
    let slots = [Slots::blank(), Slots::blank(), Slots::configured(&board_config(0))];
    let mut row = Row::start(slots, true, true);
    for (route, number, expected) in [
        (&[0, 1][..], 2, CommandResult::NotAllowed),
        (&[], 0, CommandResult::Done),
    ] {
        let payload = named(number, &BoardConfig::shorten(&board_config(1)));
        assert_eq!(row.command(route, WRITE_CONFIG, &payload), expected);
    }
}

/// All boards and the host have the key of the mesh, and the boards have keys of their own, but no configs.
#[test]
#[cfg(feature = "keys")]
fn a_board_with_a_key_takes_no_config_without_its_tag() {
    use hopwise_node::authority::{Challenge, MeshKeys, authorize, board_key};
    use hopwise_node::key::{Credentials, Key, Secret};
    use hopwise_node::store::committed;

    let keys = MeshKeys::of(&Secret::new(Key::new([7; 16]), false));
    let slots = [0, 1, 2].map(|node| Slots::holding(&committed(&[0xff; 192], Some(keys.of_board(node)), None, 1)));
    let mut row = Row::start(slots, false, false);
    row.host.lock(&Credentials {
        secret: keys.mesh,
        random: [9; 16],
    });
    let config = BoardConfig::shorten(&board_config(1));
    let untagged = row.command(&[0, 1], WRITE_CONFIG, &named(2, &config));
    assert_eq!(untagged, CommandResult::NotAllowed);
    let (_, response) = row
        .relay(&[0, 1], Query::Board(Command::CHALLENGE), &[1; 8])
        .expect("a response");
    let (challenge, _): (Challenge, _) = postcard::take_from_bytes(&response).expect("a challenge");
    for (node, expected) in [(1, CommandResult::NotAllowed), (2, CommandResult::Done)] {
        let key = board_key(&keys.management, node);
        let tagged = authorize(&key, &challenge, Command::WRITE_CONFIG, &config).expect("it fits");
        assert_eq!(row.command(&[0, 1], WRITE_CONFIG, &named(2, &tagged)), expected);
    }
}

/// Someone at a cable of the last board says what hosts say, and sends boards back and forth what they relay.
#[test]
fn a_neighbor_is_no_host_and_a_flood_ends() {
    let mut row = Row::blank(false);
    let mut stranger = host(&row.world);
    for (query, payload) in [(WRITE_CONFIG, &board_config(1)[..]), (STATUS, &[])] {
        let request = stranger.request(0, query, payload, row.world.time.now());
        let response = ask(&mut row.world, &row.end, &mut stranger, request.expect("it fits"));
        assert_eq!(response, None);
    }
    assert_eq!(*row.seen[2].restart.borrow(), None);
    let mut sent = 0;
    for _ in 0..4_000 {
        row.world.run(500);
        let now = row.world.time.now();
        stranger.tick(now);
        while stranger.is_up() && stranger.has_room() {
            // Between the second board and the third, there and back a hundred times.
            let request = relayed(&mut stranger, now, &[1; 200], STATUS, &[]);
            stranger.send(request).expect("room");
            sent += 1;
        }
        let mut frame = [0; WIRE];
        let length = stranger.transmit(now, &mut frame);
        row.end.1.inject(frame[..length].iter().copied());
        let bytes = row.end.0.drain();
        let mut rest = &bytes[..];
        while stranger.receive(&mut rest, now).is_some() {}
    }
    assert!(sent > 500, "only {sent}");
    row.world.run(SECOND);
    for route in [&[][..], &[0], &[0, 1]] {
        assert!(row.relay(route, STATUS, &[]).is_some(), "{route:?}: all is as before");
    }
}

//! Boards without a config, which relay requests to each other.

use hopwise_node::endpoint::Endpoint;
use hopwise_node::limits::BODY;
use hopwise_node::store::Store;
use hopwise_node::wire::{
    BoardConfig, Body, Command, CommandResult, LinkReport, Query, Request, Status, WIRE, relay_arrivals, relay_request,
};
use hopwise_runner::{Board, Restart};

use crate::world::{Cables, HOST_PORT, Pipe, SECOND, Seen, Slots, World, board_config};
use crate::{ask, host};

const WRITE_CONFIG: Query = Query::Board(Command::WRITE_CONFIG);
const STATUS: Query = Query::Board(0);

fn chip(number: u8, crashes_again: bool) -> Board {
    Board {
        unique_id: [number; 12],
        crashes_again,
        ..Board::default()
    }
}

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
        let boards = ends.into_iter().zip(&slots).zip(0..);
        let seen = boards.map(|((cables, slots), number)| {
            let board = chip(number, third_crashes && number == 2);
            world.start_board(board, slots, cables, |_| async { unreachable!("there is no mesh") })
        });
        let seen = seen.collect();
        world.run(SECOND / 2);
        let host = host(&world);
        Row {
            world,
            slots,
            seen,
            host,
            host_cable,
            end,
        }
    }

    /// The ports at which a request arrived, and the response.
    fn relay(&mut self, route: &[u8], query: Query, payload: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
        let payload: Body<{ BODY - Request::PREFIX }> = relay_request(route, query, payload).expect("it fits");
        let now = self.world.time.now();
        let request = self.host.request(0, Query::Relay, &payload, now).expect("it fits");
        let bytes = ask(&mut self.world, &self.host_cable, &mut self.host, request)?;
        let (arrivals, response) = relay_arrivals(&bytes).expect("a list");
        Some((arrivals.collect(), response.to_vec()))
    }

    fn write_config(&mut self, route: &[u8], number: u8, config: &[u8]) -> Option<CommandResult> {
        let (_, response) = self.relay(route, WRITE_CONFIG, &[&[number; 12], config].concat())?;
        Some(postcard::from_bytes(&response).expect("a result"))
    }
}

#[test]
fn whoever_is_reached_says_who_it_is_and_whom_it_hears() {
    let mut row = Row::start([(); 3].map(|()| Slots::blank()), false, true);
    for (route, arrivals, number) in [
        (&[][..], &[2][..], 0),
        (&[0], &[2, 0], 1),
        (&[0, 1], &[2, 0, 1], 2),
        // Back and forth, and around the cable from the third board to itself.
        (&[0, 0, 0, 1], &[2, 0, 0, 0, 1], 2),
        (&[0, 1, 0, 0, 1], &[2, 0, 1, 0, 0, 1], 1),
    ] {
        let (found, response) = row
            .relay(route, STATUS, &[])
            .unwrap_or_else(|| panic!("no response by {route:?}"));
        let status: Status = postcard::from_bytes(&response).expect("a status");
        assert_eq!(
            (&found[..], status.unique_id, status.links),
            (arrivals, [number; 12], 2),
            "{route:?}"
        );
    }
    for (link, up) in [(0, Some(true)), (1, Some(true)), (3, None)] {
        let (_, response) = row.relay(&[0, 1], Query::Link, &[link]).expect("a response");
        let report: Option<LinkReport> = postcard::from_bytes(&response).expect("a report");
        assert_eq!(report.map(|report| report.up), up, "link {link}");
    }
    // Nothing else is answered, and nothing is forwarded to where nobody is, to other hosts, or without a list.
    let (_, response) = row.relay(&[0], Query::Ping, b"ping").expect("a response");
    assert_eq!(postcard::from_bytes(&response), Ok(CommandResult::Unknown));
    for route in [&[1][..], &[7], &[0, 1, 2], &[0, 2]] {
        assert_eq!(row.relay(route, STATUS, &[]), None, "{route:?}");
    }
}

#[test]
fn a_config_is_taken_by_its_board_only_and_on_trial() {
    let mut row = Row::start([(); 3].map(|()| Slots::blank()), false, true);
    let (bytes, bad) = (board_config(1), [1; 8]);
    let config = BoardConfig::shorten(&bytes);
    for (number, config, expected) in [
        (1, &config[..], CommandResult::OtherBoard),
        (2, &bad, CommandResult::BadConfig),
        (2, &bytes[..3], CommandResult::Unknown),
        (2, &config, CommandResult::Done),
    ] {
        assert_eq!(row.write_config(&[0, 1], number, config), Some(expected));
    }
    // Without its chip's number it is a command for nobody.
    let (_, response) = row.relay(&[0], Query::Board(3), &[]).expect("a response");
    assert_eq!(postcard::from_bytes(&response), Ok(CommandResult::OtherBoard));
    row.world.run(SECOND);
    assert_eq!(*row.seen[2].restart.borrow(), Some(Restart::Reconfigured));
    let start = Store::new(row.slots[2].clone()).start(1);
    assert_eq!((start.config, start.on_trial), (Some(bytes), true));
    for other in [0, 1] {
        assert_eq!(*row.seen[other].restart.borrow(), None);
    }
}

#[test]
fn of_two_hosts_the_first_gives_a_board_its_config() {
    let mut row = Row::start([(); 3].map(|()| Slots::blank()), false, false);
    // Both are up.
    assert!(row.relay(&[0, 1], STATUS, &[]).is_some());
    let mut other = host(&row.world);
    let bytes = board_config(0);
    let payload = [&[2; 12], &BoardConfig::shorten(&bytes)[..]].concat();
    let list: Body<{ BODY - Request::PREFIX }> = relay_request(&[], WRITE_CONFIG, &payload).expect("it fits");
    let request = other
        .request(0, Query::Relay, &list, row.world.time.now())
        .expect("it fits");
    assert!(ask(&mut row.world, &row.end, &mut other, request).is_some());
    let config = BoardConfig::shorten(&board_config(1));
    assert_eq!(row.write_config(&[0, 1], 2, &config), Some(CommandResult::Busy));
    row.world.run(SECOND);
    assert_eq!(Store::new(row.slots[2].clone()).start(1).config, Some(bytes));
}

/// It has a config, and ignores it as long as it crashes.
#[test]
fn a_board_that_has_a_config_takes_no_other_from_a_neighbor() {
    let slots = [Slots::blank(), Slots::blank(), Slots::configured(&board_config(0))];
    let mut row = Row::start(slots, true, true);
    let config = BoardConfig::shorten(&board_config(1));
    assert_eq!(row.write_config(&[0, 1], 2, &config), Some(CommandResult::NotAllowed));
    assert_eq!(row.write_config(&[], 0, &config), Some(CommandResult::Done));
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
    let refused = Some(CommandResult::NotAllowed);
    assert_eq!(row.write_config(&[0, 1], 2, &config), refused);
    let (_, response) = row
        .relay(&[0, 1], Query::Board(Command::CHALLENGE), &[1; 8])
        .expect("a response");
    let (challenge, _) = response.split_at(response.len() - 8);
    let challenge: Challenge = postcard::from_bytes(challenge).expect("a challenge");
    for (node, expected) in [(1, CommandResult::NotAllowed), (2, CommandResult::Done)] {
        let key = board_key(&keys.management, node);
        let tagged = authorize(&key, &challenge, Command::WRITE_CONFIG, &config).expect("it fits");
        let (_, response) = row
            .relay(&[0, 1], WRITE_CONFIG, &[&[2; 12], &tagged[..]].concat())
            .expect("a response");
        // What follows is the tag of the response.
        assert_eq!(
            postcard::take_from_bytes(&response).map(|(result, _)| result),
            Ok(expected)
        );
    }
}

/// Someone at a cable of the last board says what hosts say, and sends boards back and forth what they relay.
#[test]
fn a_neighbor_is_no_host_and_a_flood_ends() {
    let mut row = Row::start([(); 3].map(|()| Slots::blank()), false, false);
    let mut stranger = host(&row.world);
    let config = board_config(1);
    for (query, payload) in [(WRITE_CONFIG, &config[..]), (STATUS, &[])] {
        let request = stranger
            .request(0, query, payload, row.world.time.now())
            .expect("it fits");
        assert_eq!(ask(&mut row.world, &row.end, &mut stranger, request), None);
    }
    assert_eq!(*row.seen[2].restart.borrow(), None);
    // Between the second board and the third, there and back a hundred times.
    let flood: Body<{ BODY - Request::PREFIX }> = relay_request(&[1; 200], STATUS, &[]).expect("it fits");
    let mut sent = 0;
    for _ in 0..4_000 {
        row.world.run(500);
        let now = row.world.time.now();
        stranger.tick(now);
        while stranger.is_up() && stranger.has_room() {
            let request = stranger.request(0, Query::Relay, &flood, now).expect("it fits");
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

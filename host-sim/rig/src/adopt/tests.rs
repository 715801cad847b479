//! Exploring, on boards that are a few variables each and may lie.

use std::collections::BTreeSet;

use hopwise_host::talk::Talk;
use hopwise_node::wire::{
    BoardInfo, Content, Header, Kind, LinkCounters, Packet, RelayStep, relay_response, relay_step, relayed,
    write_structure,
};
use hopwise_testing::Random;
use proptest::prelude::*;

use super::*;

const LINKS: usize = 5;

/// Changes the answer of a board to a query, or has it answer what it should have forwarded.
type Lie = fn(&Fake, board: usize, query: Query, is_forwarded: bool, route: &[u8]) -> Option<Vec<u8>>;

struct Fake {
    /// Where the links of each board lead.
    cables: Vec<[Option<(usize, u8)>; LINKS]>,
    /// What is at links without a cable: the network and role of a peer, and a fault.
    others: BTreeMap<(usize, u8), (u32, bool, LinkFault)>,
    lie: Lie,
    /// After this number of requests the cable at this place is pulled.
    pull: Option<(usize, (usize, u8))>,
    /// During these requests board 3 restarts.
    restarts: std::ops::Range<usize>,
    asked: usize,
    now: Duration,
}

fn written<T: serde::Serialize>(value: &T) -> Vec<u8> {
    write_structure::<T, Body<BODY>>(value).expect("it fits").to_vec()
}

fn status(number: usize) -> Status {
    Status {
        state: BoardState::NoConfig,
        board: "nucleo-f446re".try_into().expect("a name"),
        unique_id: std::array::from_fn(|place| (number >> (8 * (place % 4))) as u8),
        links: LINKS as u8,
        baud: 1_000_000,
        uptime_ms: 1,
        card: BoardInfo::default(),
        fault: None,
        on_trial: false,
    }
}

fn link(peer: Option<(u32, bool)>, fault: LinkFault) -> Vec<u8> {
    written(&Some(LinkReport {
        up: peer.is_some(),
        fault,
        peer: peer.map(|(network, _)| (network, 0, 0)),
        host: peer.is_some_and(|(_, host)| host),
        wired: false,
        waiting: 0,
        counters: LinkCounters::default(),
        baud: 1_000_000,
    }))
}

impl Fake {
    fn new(boards: usize, cables: &[[(usize, u8); 2]]) -> Self {
        let mut fake = Fake {
            cables: vec![[None; LINKS]; boards],
            others: BTreeMap::new(),
            lie: |_, _, _, _, _| None,
            pull: None,
            restarts: 0..0,
            asked: 0,
            now: Duration::ZERO,
        };
        for [one, other] in cables {
            fake.cables[one.0][usize::from(one.1)] = Some(*other);
            fake.cables[other.0][usize::from(other.1)] = Some(*one);
        }
        fake
    }

    fn ring(boards: usize) -> Self {
        let cables: Vec<_> = (0..boards)
            .map(|board| [(board, 0), ((board + 1) % boards, 1)])
            .collect();
        Fake::new(boards, &cables)
    }

    fn answer(&self, board: usize, query: Query, payload: &[u8]) -> Vec<u8> {
        match query {
            Query::Link => {
                let at = (board, payload[0]);
                let far = self.cables[board].get(usize::from(at.1)).copied().flatten();
                match self.others.get(&at) {
                    Some((network, host, fault)) => link(Some((*network, *host)), *fault),
                    None => link(far.map(|_| (0, false)), LinkFault::None),
                }
            }
            Query::Board(0) => written(&status(board)),
            _ => written(&CommandResult::Done),
        }
    }

    fn relay(&self, more: &[u8]) -> Option<Vec<u8>> {
        let body: Body<BODY> = Request::new(Query::Relay, 0, more).write()?;
        let mut packet: Packet<BODY> = Packet::new(Header::new(Kind::Request, 0, 0), &body)?;
        let (mut at, mut route) = ((0, LINKS as u8), Vec::new());
        loop {
            if at.0 == 3 && self.restarts.contains(&self.asked) {
                return None;
            }
            let step = relay_step(&mut packet, at.1)?;
            let Some(Content::Request(request)) = packet.content() else {
                return None;
            };
            let (query, payload) = relayed(request.payload)?;
            let is_forwarded = step != RelayStep::Answer;
            let lie = (self.lie)(self, at.0, query, is_forwarded, &more[2..]);
            if lie.is_some() || !is_forwarded {
                let response = lie.unwrap_or_else(|| self.answer(at.0, query, payload));
                return Some(relay_response::<Body<BODY>>(request.payload, &response)?.to_vec());
            }
            let RelayStep::Forward(port) = step else { return None };
            route.push(port);
            at = (*self.cables[at.0].get(usize::from(port))?)?;
        }
    }
}

impl Talk for Fake {
    fn entrances(&self) -> Vec<u64> {
        vec![0]
    }

    fn ask(&mut self, requests: &[BoardRequest]) -> Vec<Option<Reply>> {
        self.asked += 1;
        if let Some((_, end)) = self.pull.take_if(|(after, _)| *after <= self.asked)
            && let Some(far) = self.cables[end.0][usize::from(end.1)].take()
        {
            self.cables[far.0][usize::from(far.1)] = None;
        }
        let request = &requests[0];
        let response = match request.query {
            Query::Relay => self.relay(&request.more),
            query => Some(self.answer(0, query, &request.more)),
        };
        self.now += Duration::from_millis(if response.is_some() { 10 } else { 1_000 });
        vec![response.map(Reply::Response)]
    }
}

impl Boards for Fake {
    fn wait(&mut self, time: Duration) {
        self.now += time;
    }

    fn elapsed(&self) -> Duration {
        self.now
    }

    fn stream(&mut self, _: Vec<Vec<u8>>) {}
}

fn explored(fake: &mut Fake) -> Explored {
    explore(fake, &mut |_| {}).expect("boards without configs")
}

/// The cables by the numbers of the chips.
fn found(explored: &Explored) -> BTreeSet<[(usize, u8); 2]> {
    let number = |end: Socket| {
        let [low, high, ..] = explored.boards[end.board].unique_id;
        (usize::from(low) | usize::from(high) << 8, end.link as u8)
    };
    let cables = explored.cables().into_iter();
    let cables = cables.map(|(one, other)| [number(one), number(other)]);
    cables
        .map(|mut ends| {
            ends.sort_unstable();
            ends
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn boards_wired_at_random_are_found_as_they_are(boards in 1..40_usize, extra in 0..60_usize, seed: u64) {
        let mut random = Random(seed);
        let mut free: Vec<Vec<u8>> = vec![(0..LINKS as u8).collect(); boards];
        let mut cables: Vec<[(usize, u8); 2]> = Vec::new();
        // A tree, and cables anywhere else, once between two boards.
        for number in 1..boards + extra {
            let one = if number < boards { number } else { random.below(boards as u64) as usize };
            let other = random.below(number.min(boards) as u64) as usize;
            let joined = |[a, b]: &[(usize, u8); 2]| [(a.0, b.0), (b.0, a.0)].contains(&(one, other));
            if one == other || free[one].is_empty() || free[other].is_empty() || cables.iter().any(joined) {
                continue;
            }
            let [one, other] = [one, other].map(|board| {
                let place = random.below(free[board].len() as u64) as usize;
                (board, free[board].swap_remove(place))
            });
            cables.push([one.min(other), one.max(other)]);
        }
        let mut fake = Fake::new(boards, &cables);
        let explored = explored(&mut fake);
        prop_assert_eq!((&explored.doubts, &explored.remarks), (&vec![], &vec![]));
        // A board that found no free link in the tree is not reached, nor what is behind it.
        let reached: BTreeSet<_> = explored.boards.iter().map(|board| board.unique_id[0]).collect();
        let within = cables.into_iter().filter(|[one, _]| reached.contains(&(one.0 as u8)));
        prop_assert_eq!(found(&explored), within.collect());
        prop_assert!(fake.asked <= 1 + boards * (2 * LINKS + 1));
    }
}

#[test]
fn what_is_no_cable_between_two_boards_is_named_and_left_out() {
    let mut fake = Fake::ring(4);
    for [one, other] in [[(0, 2), (1, 4)], [(2, 2), (2, 3)], [(3, 4), (3, 4)]] {
        fake.cables[one.0][usize::from(one.1)] = Some(other);
        fake.cables[other.0][usize::from(other.1)] = Some(one);
    }
    for (place, peer) in [
        ((0, 3), (0, true, LinkFault::None)),
        ((0, 4), (77, false, LinkFault::None)),
        ((1, 2), (0, false, LinkFault::Version)),
        ((1, 3), (0, false, LinkFault::WrongKey)),
        ((3, 3), (0, false, LinkFault::OneWay)),
    ] {
        fake.others.insert(place, peer);
    }
    let explored = explored(&mut fake);
    assert_eq!(explored.doubts, Vec::<String>::new());
    assert_eq!(found(&explored), found(&self::explored(&mut Fake::ring(4))));
    let mut remarks = explored.remarks;
    remarks.sort();
    // In the order in which they are found, the board with number 3 is board 2.
    let expected = [
        "UART4 of board 1: who is there speaks another version of the wire format, and is left out",
        "UART5 of board 0: a host is there, and is left out",
        "UART5 of board 1: who is there has another key, or none, and is left out",
        "UART5 of board 2: the cable carries bytes in one direction only, and is left out",
        "USART6 of board 0: who is there is part of another mesh, and is left out",
        "the cable from UART4 of board 0 to USART6 of board 1 is the second one between these boards",
        "the cable from UART4 of board 3 to UART5 of board 3 joins a board with itself",
        "the cable from USART6 of board 2 to USART6 of board 2 joins a board with itself",
    ];
    assert_eq!(remarks, expected);
}

#[test]
fn cables_that_are_pulled_and_boards_that_restart_while_exploring_do_no_harm() {
    for after in 0..80 {
        let mut fake = Fake::ring(6);
        fake.pull = Some((after, (3, 0)));
        let pulled = explored(&mut fake);
        assert_eq!(pulled.doubts, Vec::<String>::new(), "{after}");
        // In between it depends on whether it had been used in both directions.
        let expected = match after {
            0..10 => 5..6,
            10..60 => 5..7,
            _ => 6..7,
        };
        assert!(expected.contains(&pulled.cables().len()), "{after}");
        for requests in [1, 5] {
            let mut fake = Fake::ring(6);
            fake.restarts = after..after + requests;
            let restarted = explored(&mut fake);
            assert_eq!(
                (restarted.doubts.len(), restarted.cables().len()),
                (0, 6),
                "{after}, {requests}"
            );
        }
    }
}

/// Board 3 of a ring of 6 is another one's program.
#[test]
fn what_boards_claim_is_believed_only_if_it_fits_together() {
    let lies: [(&str, Lie); 5] = [
        (
            "the number of board 1 as its own",
            |_, board, query, is_forwarded, _| {
                (board == 3 && query == Query::Board(0) && !is_forwarded).then(|| written(&status(1)))
            },
        ),
        ("a neighbor that is not there", |_, board, query, is_forwarded, _| {
            (board == 3 && query == Query::Link && !is_forwarded).then(|| link(Some((0, false)), LinkFault::None))
        }),
        ("two hundred links", |_, board, query, is_forwarded, _| {
            let links = 200;
            (board == 3 && query == Query::Board(0) && !is_forwarded).then(|| written(&Status { links, ..status(3) }))
        }),
        ("to be whoever is behind it", |_, board, query, is_forwarded, _| {
            (board == 3 && query == Query::Board(0) && is_forwarded).then(|| written(&status(1)))
        }),
        ("nothing that can be read", |_, board, query, is_forwarded, _| {
            (board == 3 && query == Query::Link && !is_forwarded).then(|| vec![7; 3])
        }),
    ];
    for (claim, lie) in lies {
        let mut fake = Fake::ring(6);
        fake.lie = lie;
        let explored = explored(&mut fake);
        assert!(!explored.doubts.is_empty(), "{claim}");
        assert!(
            explored.boards.len() >= 5 && fake.now < Duration::from_secs(200),
            "{claim}: {:?}",
            fake.now
        );
    }
}

/// A board answers for ever new boards behind it, each with all links in use.
#[test]
fn exploring_ends_whatever_boards_claim() {
    let mut fake = Fake::ring(6);
    fake.lie = |_, board, query, is_forwarded, route| {
        let invented = route
            .iter()
            .fold(7, |hash: usize, byte| (hash * 31 + usize::from(*byte)) % 1_000_003);
        match query {
            _ if board != 3 || !is_forwarded => None,
            Query::Link => Some(link(Some((0, false)), LinkFault::None)),
            _ => Some(written(&status(1_000 + invented))),
        }
    };
    let explored = explored(&mut fake);
    assert!(explored.boards.len() <= MAX_BOARDS + LINKS && fake.now <= EXPLORE_WITHIN + Duration::from_secs(60));
    assert!(!explored.doubts.is_empty());
    // Silence takes longest.
    let mut fake = Fake::new(1, &[]);
    fake.others = (0..LINKS as u8)
        .map(|link| ((0, link), (0, false, LinkFault::None)))
        .collect();
    let explored = self::explored(&mut fake);
    assert!(
        explored.boards.len() == 1 && fake.now < Duration::from_secs(60),
        "{:?}",
        fake.now
    );
    assert_eq!(explored.doubts.len(), LINKS);
}

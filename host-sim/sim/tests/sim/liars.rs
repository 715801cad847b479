//! The oracle is tested: boards that lie, each in one way, and it catches every one of them.

use std::collections::{HashMap, HashSet};

use hopwise_node::limits::BODY;
use hopwise_node::router::{Event, Message, MessageKind};
use hopwise_node::wire::{Bytes, DropReason, Frame, Header, Kind, Query, RouterCounters, decode, tag_of, write_data};
use hopwise_sim::oracle::{Broken, Violation};
use hopwise_sim::shell::Shell;
use hopwise_sim::wire::Nanos;
use hopwise_sim::world::WireEnd;
use hopwise_sim::{Settings, simulate_with};

use crate::{also, on};

const LIAR: u32 = 4;
/// It is honest until then.
const FROM: Nanos = 1_000_000_000;

struct Honest;

impl Shell for Honest {}

fn traffic() -> Settings {
    on("torus(3,3) --packets 3000 --rate 100")
}

fn verdict(settings: &Settings, mut shell: impl Shell) -> Option<Violation> {
    let run = settings.run().unwrap();
    simulate_with(&run, &mut shell, None, &mut |_| ()).unwrap().violation
}

#[track_caller]
fn assert_caught(shell: impl Shell, broken: Broken) {
    assert_caught_in(&traffic(), shell, broken);
}

#[track_caller]
fn assert_caught_in(settings: &Settings, shell: impl Shell, broken: Broken) {
    let violation = verdict(settings, shell);
    let violation = violation.expect("a lie was not noticed");
    assert_eq!(violation.kind, broken, "{violation:?}");
    assert!(violation.at >= FROM, "{violation:?}");
}

type Messages = Vec<Message<BODY>>;

/// Changes what its application gets.
struct Brings<F>(F);

impl<F: FnMut(Nanos, &mut Messages)> Shell for Brings<F> {
    fn brings(&mut self, at: Nanos, board: u32, messages: &mut Messages) {
        if board == LIAR && at >= FROM {
            (self.0)(at, messages);
        }
    }
}

fn brings<F: FnMut(Nanos, &mut Messages)>(change: F) -> Brings<F> {
    Brings(change)
}

/// Swallows one message of a kind.
fn swallows(is_it: fn(&Message<BODY>) -> bool) -> impl Shell {
    let mut once = true;
    brings(move |_, messages| {
        if once && let Some(place) = messages.iter().position(is_it) {
            messages.remove(place);
            once = false;
        }
    })
}

#[test]
fn honest_boards_are_accepted() {
    assert_eq!(verdict(&traffic(), Honest), None);
}

#[test]
fn payloads_cut_short_drawn_out_or_changed_are_corrupted() {
    let with = |change: fn(&mut Message<BODY>)| brings(move |_, messages| messages.iter_mut().for_each(change));
    assert_caught(with(|message| message.payload.truncate(31)), Broken::Corrupted);
    assert_caught(with(|message| message.payload.truncate(4)), Broken::Corrupted);
    assert_caught(with(|message| message.payload.truncate(0)), Broken::Corrupted);
    assert_caught(with(|message| message.payload.push(0).unwrap()), Broken::Corrupted);
    assert_caught(with(|message| message.payload[20] ^= 1), Broken::Corrupted);
    assert_caught(with(|message| message.source ^= 1), Broken::Corrupted);
    assert_caught(with(|message| message.port.0 ^= 1), Broken::Corrupted);
}

#[test]
fn what_is_swallowed_is_lost() {
    assert_caught(swallows(|_| true), Broken::Lost);
}

#[test]
fn what_is_brought_again_came_twice() {
    let twice = brings(|_, messages| messages.extend(messages.last().cloned()));
    assert_caught(twice, Broken::Twice);
    let mut kept = Vec::new();
    let later = brings(move |_, messages| {
        kept.extend(messages.clone());
        messages.extend(kept.first().filter(|_| kept.len() > 50).cloned());
    });
    assert_caught(later, Broken::Twice);
}

#[test]
fn what_is_held_back_is_out_of_order_or_late() {
    let mut held: Option<Message<BODY>> = None;
    let overtaken = brings(move |_, messages| match &held {
        None => held = messages.pop(),
        Some(first) if messages.iter().any(|message| message.source == first.source) => messages.extend(held.take()),
        Some(_) => {}
    });
    assert_caught(overtaken, Broken::Order);
    for delay in [1_500, 9_000] {
        let settings = also(traffic(), "--rate 25");
        let mut held: Vec<(Nanos, Message<BODY>)> = Vec::new();
        let late = brings(move |at, messages| {
            held.extend(messages.drain(..).map(|message| (at, message)));
            let due = |&mut (since, _): &mut (Nanos, _)| at >= since + delay * 1_000_000;
            messages.extend(held.extract_if(.., due).map(|(_, message)| message));
        });
        assert_caught_in(&settings, late, Broken::Late);
    }
}

/// Changes what its node says.
struct Says<F>(F);

impl<F: FnMut(&Event) -> Option<Event>> Shell for Says<F> {
    fn says(&mut self, at: Nanos, board: u32, event: &Event) -> Option<Event> {
        let lies = board == LIAR && at >= FROM;
        if lies { (self.0)(event) } else { Some(*event) }
    }
}

fn says<F: FnMut(&Event) -> Option<Event>>(change: F) -> Says<F> {
    Says(change)
}

/// Keeps quiet about what it took.
fn keeps_quiet() -> impl Shell {
    says(|event| Some(*event).filter(|event| !matches!(event, Event::Received { .. })))
}

/// That it took another packet than it did.
fn took_another(event: &Event) -> Option<Event> {
    let Event::Received { link, mut packet, dest } = *event else {
        return None;
    };
    packet.number ^= 1 << 20;
    Some(Event::Received { link, packet, dest })
}

#[test]
fn what_a_node_says_is_held_against_the_wires() {
    assert_caught(keeps_quiet(), Broken::Account);
    assert_caught(says(|event| took_another(event).or(Some(*event))), Broken::Account);
    let passes_elsewhere = says(|event| match *event {
        Event::Forwarded { link, packet } => Some(Event::Forwarded { link: link ^ 1, packet }),
        event => Some(event),
    });
    assert_caught(passes_elsewhere, Broken::Account);
}

/// Drops what comes for its application, and says so.
struct Polite {
    reason: DropReason,
    dropped: u32,
}

impl Shell for Polite {
    fn says(&mut self, at: Nanos, board: u32, event: &Event) -> Option<Event> {
        match *event {
            Event::Delivered { packet } if board == LIAR && at >= FROM => {
                self.dropped += 1;
                Some(Event::Dropped {
                    packet,
                    dest: u64::from(LIAR),
                    reason: self.reason,
                })
            }
            event => Some(event),
        }
    }

    fn counts(&mut self, board: u32, mut counters: RouterCounters) -> RouterCounters {
        if board == LIAR {
            counters.delivered -= self.dropped;
            counters.dropped[self.reason as usize] += self.dropped;
        }
        counters
    }

    fn brings(&mut self, at: Nanos, board: u32, messages: &mut Vec<Message<BODY>>) {
        if board == LIAR && at >= FROM {
            messages.clear();
        }
    }
}

#[test]
fn a_polite_word_is_no_excuse_in_a_quiet_mesh() {
    use DropReason::{Expired, InboxFull, NoRoute, Uncertain};
    for reason in [Expired, Uncertain, InboxFull, NoRoute] {
        assert_caught(Polite { reason, dropped: 0 }, Broken::Dropped);
    }
    let broadcasts = also(traffic(), "--traffic broadcast --packets 300 --rate 20");
    for (reason, broken) in [
        (Expired, Broken::Dropped),
        (Uncertain, Broken::Dropped),
        (NoRoute, Broken::Lost),
    ] {
        assert_caught_in(&broadcasts, Polite { reason, dropped: 0 }, broken);
    }
}

/// Counts otherwise than it did.
struct Counts(fn(&mut RouterCounters));

impl Shell for Counts {
    fn counts(&mut self, board: u32, mut counters: RouterCounters) -> RouterCounters {
        if board == LIAR {
            (self.0)(&mut counters);
        }
        counters
    }
}

#[test]
fn counters_that_lie_are_noticed_even_if_they_add_up() {
    let lies: [fn(&mut RouterCounters); 9] = [
        |counters| counters.received += 1,
        |counters| counters.forwarded -= 1,
        |counters| counters.delivered += 1,
        |counters| counters.originated += 1,
        |counters| counters.dropped[DropReason::Expired as usize] += 1,
        // It swallowed a packet, and says that it passed it on, or delivered it, or dropped it; or that none came.
        |counters| (counters.received, counters.forwarded) = (counters.received + 1, counters.forwarded + 1),
        |counters| (counters.received, counters.delivered) = (counters.received + 1, counters.delivered + 1),
        |counters| (counters.forwarded, counters.delivered) = (counters.forwarded - 1, counters.delivered + 1),
        |counters| {
            counters.delivered -= 1;
            counters.dropped[DropReason::Duplicate as usize] += 1;
        },
    ];
    for lie in lies {
        assert_caught(Counts(lie), Broken::Account);
    }
}

/// Changes the packets that it sends, and writes them as core does, but with full headers.
struct Sends<F> {
    change: F,
    /// The epoch and the high half of the numbers of each source on each link.
    sequences: HashMap<(u8, u64, bool), (u16, u32)>,
}

impl<F: FnMut(&mut Header, &mut Vec<u8>)> Shell for Sends<F> {
    fn sends(&mut self, at: Nanos, (board, link): WireEnd, frame: &mut [u8], length: usize) -> usize {
        if board != LIAR {
            return length;
        }
        let again = frame[0] == 0;
        let mut bytes: Vec<u8> = frame[usize::from(again)..length - 1].to_vec();
        let decoded = decode(&mut bytes).unwrap();
        let Ok(Frame::Data { header: data, packet }) = Frame::read(decoded, tag_of(decoded).unwrap()) else {
            return length;
        };
        let (mut header, is_brief, body) = Header::read_any(packet).unwrap();
        let source = (link, header.source, header.kind == Kind::Confirmed);
        if is_brief {
            let (epoch, high) = self.sequences[&source];
            (header.epoch, header.number) = (epoch, header.number | high << 16);
        }
        self.sequences.insert(source, (header.epoch, header.number >> 16));
        if at < FROM {
            return length;
        }
        let mut body = body.to_vec();
        (self.change)(&mut header, &mut body);
        let mut bytes = [0; 64];
        let written = header.write(&mut bytes).unwrap();
        write_data(&data, [&bytes[..written], &body], again, None, frame).unwrap()
    }
}

#[test]
fn packets_changed_on_the_way_are_noticed_where_they_arrive() {
    let datagrams = |change: fn(&mut Header, &mut Vec<u8>)| {
        let change = move |header: &mut Header, body: &mut Vec<u8>| {
            if header.kind == Kind::Datagram {
                change(header, body);
            }
        };
        Sends {
            change,
            sequences: HashMap::new(),
        }
    };
    assert_caught(datagrams(|_, body| body.truncate(20)), Broken::Corrupted);
    assert_caught(datagrams(|_, body| body.push(7)), Broken::Corrupted);
    assert_caught(datagrams(|_, body| body[10] = !body[10]), Broken::Corrupted);
    // To the wrong board.
    let astray = datagrams(|header, _| header.dest = (header.dest + 1) % 9);
    assert_caught(astray, Broken::Corrupted);
    // Its neighbor takes it for old, and drops it.
    assert_caught(datagrams(|header, _| header.age = u16::MAX), Broken::Dropped);
    // Another packet than it says it sent.
    assert_caught(datagrams(|header, _| header.number ^= 1 << 20), Broken::Account);
}

/// Plugs are exchanged at the liar when it begins to lie: what no wire brought is known for that all the same, and so is what
/// nobody took.
#[test]
fn while_plugs_are_exchanged_nothing_can_be_made_up() {
    for seed in 1..=3 {
        let swaps = format!("--events '1s swap 4.0 5.1; 1300ms swap 4.0 5.1' --seed {seed}");
        let settings = also(traffic(), &swaps);
        assert_eq!(verdict(&settings, Honest), None, "{}", settings.command());
        let once = |lie: fn(&Event) -> Option<Event>| {
            let mut told = false;
            says(move |event| {
                let lie = lie(event).filter(|_| !told);
                told |= lie.is_some();
                Some(lie.unwrap_or(*event))
            })
        };
        assert_caught_in(&settings, once(took_another), Broken::Account);
        let passes_on = once(|event| match *event {
            Event::Forwarded { link, mut packet } => {
                packet.number ^= 1 << 20;
                Some(Event::Forwarded { link, packet })
            }
            _ => None,
        });
        assert_caught_in(&settings, passes_on, Broken::Account);
        assert_caught_in(&settings, keeps_quiet(), Broken::Account);
    }
}

#[test]
fn a_bad_wire_excuses_nobody_who_loses_responses_or_says_that_it_is_busy() {
    // Pings beside a wire that damages most of what it carries.
    let noise = "--traffic ping-all --events '0s noise 4.0 2e-3' --rate 20 --packets 1000";
    let settings = also(traffic(), noise);
    assert_eq!(verdict(&settings, Honest), None, "{}", settings.command());
    assert_caught_in(&settings, swallows(|_| true), Broken::Lost);
    // It has answered, and says it had no room.
    let busy = says(|event| match *event {
        Event::Delivered { packet } if packet.kind == Kind::Request => Some(Event::Dropped {
            packet,
            dest: u64::from(LIAR),
            reason: DropReason::Busy,
        }),
        event => Some(event),
    });
    assert_caught_in(&settings, busy, Broken::Account);
}

#[test]
fn answers_that_cannot_be_are_corrupted() {
    let settings = also(traffic(), "--mixed");
    assert_eq!(verdict(&settings, Honest), None, "{}", settings.command());
    for query in [
        Query::Ping,
        Query::Trace,
        Query::Identity,
        Query::Counters,
        Query::Link,
        Query::ClearCounters,
    ] {
        let spoilt = |change: fn(&mut Message<BODY>)| {
            brings(move |_, messages| {
                let responses = messages.iter_mut();
                responses
                    .filter(|message| message.kind == MessageKind::Response(query))
                    .for_each(change);
            })
        };
        assert_caught_in(&settings, spoilt(|message| message.source ^= 1), Broken::Corrupted);
        let other_length = spoilt(|message| {
            // Shorter, or longer if it was empty.
            if message.payload.pop().is_none() {
                message.payload.push(0).unwrap();
            }
        });
        assert_caught_in(&settings, other_length, Broken::Corrupted);
    }
}

/// A cable that carries no frame, though nothing is wrong with it.
struct CarriesNothing;

impl Shell for CarriesNothing {
    fn sends(&mut self, _: Nanos, from: WireEnd, _: &mut [u8], length: usize) -> usize {
        if from == (LIAR, 0) { 3 } else { length }
    }
}

/// After the fault the mesh goes on around that cable, and nobody misses a packet.
#[test]
fn a_mesh_that_does_not_recover_is_found() {
    let settings = on("torus(3,3) --packets 100 --events '0s cut 4.0'");
    assert_eq!(verdict(&settings, CarriesNothing), None);
    assert_caught_in(&also(settings.clone(), "--restore"), CarriesNothing, Broken::NoRecovery);
    assert_eq!(verdict(&also(settings, "--restore"), Honest), None);
}

/// Whatever a node gives up, and says so itself, its sender is told: reports are not replaced by the word of the node that owes them.
#[test]
fn a_report_that_is_swallowed_is_missed() {
    // No path leads to the board that is off: each packet for it ends at one of its neighbors.
    for service in ["", "--traffic ping-all"] {
        let settings = on(&format!(
            "torus(3,3) --packets 1000 --rate 5 --events '0s off 8' {service}"
        ));
        let mut told = 0;
        let listens = brings(|_, messages| told += messages.iter().filter(|message| is_report(message)).count());
        assert_eq!(verdict(&settings, listens), None, "{}", settings.command());
        assert!(told > 3, "only {told} reports");
        assert_caught_in(&settings, swallows(is_report), Broken::Lost);
    }
}

fn is_report(message: &Message<BODY>) -> bool {
    matches!(message.kind, MessageKind::Undeliverable { .. })
}

/// Swallows the messages that an inbox had no room for at first.
#[derive(Default)]
struct ForgetsWhatWaited(HashSet<(u64, u32)>);

impl Shell for ForgetsWhatWaited {
    fn says(&mut self, _: Nanos, _: u32, event: &Event) -> Option<Event> {
        if let Event::Dropped { packet, reason, .. } = event
            && *reason == DropReason::InboxFull
        {
            self.0.insert((packet.source, packet.number));
        }
        Some(*event)
    }

    fn brings(&mut self, _: Nanos, _: u32, messages: &mut Vec<Message<BODY>>) {
        messages.retain(|message| !self.0.contains(&(message.source, message.number)));
    }
}

/// That an application reads late excuses a message that found no room, but not one that was confirmed.
#[test]
fn a_confirmed_message_that_is_never_read_is_lost() {
    let settings = on("star(6) --confirmed --packets 300 --rate 300 --read-late 100ms");
    assert_eq!(verdict(&settings, Honest), None);
    assert_caught_in(&settings, ForgetsWhatWaited::default(), Broken::Lost);
}

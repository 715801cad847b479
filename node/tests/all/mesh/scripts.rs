//! Scripts of small meshes: who sends what, what happens to cables and boards, and what everybody must have then. They are the text files in
//! `scripts`.
//!
//! `[path(3) ring(3)] NAME` begins a case of the test of this name, or with `...` one more of the test before, which is played in each of these networks, with all links up; `[new path(3)]` begins when the boards
//! are switched on. `for NAME .. = VALUE .. / VALUE ..` plays a case once with each row of values in the place of `{NAME}`, in which `_` is a blank, and
//! `define NAME = ...` is a name for statements. `3 times: ...` repeats a line, with `{i}` for 0, 1, 2. Statements that show something are
//! compared with what follows ` = `: a number, a range of numbers, or a list, of what is new since it was last asked for.
//!
//! Payloads and bodies are bytes and words: `0,7,word`, or `7x150` for 150 bytes. Of the numbers of packets `+2` is that of the third packet
//! of a board in its life, and `~2` that of its third confirmed one. Bodies of packets that boards write among themselves have fields:
//! confirmations `NUMBER:VERDICT:UPTIME`, reports `NUMBER:KIND:REASON:DEST`, floods `KIND:NUMBER:BODY`, requests `QUERY:ASKED:BODY`, and
//! responses `QUERY:ASKED:NUMBER:BODY`.

use std::collections::BTreeMap;
use std::fmt::Debug;

use super::datagrams::header;
use super::harness::{APP, Got, Mesh};
use super::stranger::{Heard, Stranger};
use crate::support::*;
use hopwise_node::router::Message;
use hopwise_node::wire::Undeliverable;

/// `-` is an empty list.
fn list(texts: impl Iterator<Item = String>, separator: &str) -> String {
    let joined = Vec::from_iter(texts).join(separator);
    if joined.is_empty() { "-".into() } else { joined }
}

/// The name of a variant.
fn kebab(value: impl Debug) -> String {
    let debug = format!("{value:?}");
    let name = debug.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let dashed = name.chars().map(|c| {
        let dash = if c.is_uppercase() { "-" } else { "" };
        format!("{dash}{}", c.to_ascii_lowercase())
    });
    dashed.collect::<String>().trim_start_matches('-').into()
}

fn named<T: Copy + Debug>(all: &[T], name: &str) -> T {
    let found = all.iter().copied().find(|value| kebab(value) == name);
    found.unwrap_or_else(|| panic!("nothing is called '{name}'"))
}

const VERDICTS: [Verdict; 5] = [
    Verdict::Delivered,
    Verdict::Busy,
    Verdict::Restarted,
    Verdict::PortUnreachable,
    Verdict::Full,
];

/// Sums, differences and products of numbers, times and limits. Times are in microseconds, `3u` is three units of a packet's age.
fn value(text: &str) -> u64 {
    if let Some(at) = text.rfind(['+', '-']).or_else(|| text.rfind('*')) {
        let (left, right) = (value(&text[..at]), value(&text[at + 1..]));
        return match text.as_bytes()[at] {
            b'+' => left + right,
            b'-' => left - right,
            _ => left * right,
        };
    }
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number = text[..digits].parse().unwrap_or_default();
    match &text[digits..] {
        "" if digits > 0 => number,
        "us" => number,
        "u" => number * AGE_UNIT,
        "ms" => number * MILLISECOND,
        "s" => number * SECOND,
        "BODY" => BODY as u64,
        "MAX_PAYLOAD" => MAX_PAYLOAD as u64,
        "BUFFERS" => BUFFERS as u64,
        "INBOX" => INBOX as u64,
        "SERVICE" => limits::SERVICE as u64,
        "LINK_SHARE" => limits::LINK_SHARE as u64,
        "OUTSTANDING" => OUTSTANDING as u64,
        "PEERS" => limits::PEERS as u64,
        "HOST" => PORTS as u64 - 1,
        "LIFETIME" => times::LIFETIME,
        "DRIFT" => times::DRIFT,
        "CONFIRM_WITHIN" => times::CONFIRM_WITHIN,
        "REMEMBER_PEER" => times::REMEMBER_PEER,
        "FLOOD_FOR" => times::FLOOD_FOR,
        "UNREACHABLE_FOR" => times::UNREACHABLE_FOR,
        _ => panic!("'{text}' is no number"),
    }
}

/// The first number of a board's packets in the life of an epoch, and of its confirmed ones.
fn first_numbers(epoch: u32) -> [(char, u32); 2] {
    let first = 0x9e37_79b9_u32.wrapping_mul(epoch);
    [('+', first), ('~', first.rotate_left(16))]
}

fn number(text: &str) -> u32 {
    for (sign, first) in first_numbers(1) {
        if let Some(place) = text.strip_prefix(sign) {
            return first.wrapping_add(value(place) as u32);
        }
    }
    value(text) as u32
}

fn number_text(number: u32) -> String {
    let begun = (1..4)
        .flat_map(first_numbers)
        .map(|(sign, first)| (sign, number.wrapping_sub(first)));
    let place = begun.into_iter().find(|(_, place)| *place < 1_000);
    place.map_or(number.to_string(), |(sign, place)| format!("{sign}{place}"))
}

fn query(text: &str) -> Query {
    let number = |name| text.strip_prefix(name).map(|number| value(number) as u8);
    match text {
        "ping" => Query::Ping,
        "identity" => Query::Identity,
        _ => (number("board").map(Query::Board))
            .or_else(|| number("app").map(|port| Query::Application(AppPort(port))))
            .unwrap_or_else(|| panic!("'{text}' is no query")),
    }
}

fn query_text(query: Query) -> String {
    match query {
        Query::Board(number) => format!("board{number}"),
        Query::Application(port) => format!("app{}", port.0),
        other => kebab(other),
    }
}

fn bytes(text: &str) -> Vec<u8> {
    if text.is_empty() || text == "-" {
        return Vec::new();
    }
    if let Some((byte, count)) = text.split_once('x')
        && let Ok(byte) = byte.parse()
    {
        return vec![byte; value(count) as usize];
    }
    let part = |part: &str| part.parse().map_or(part.as_bytes().to_vec(), |byte: u8| vec![byte]);
    text.split(',').flat_map(part).collect()
}

fn bytes_text(bytes: &[u8]) -> String {
    if bytes.len() > 8 && bytes.iter().all(|byte| *byte == bytes[0]) {
        return format!("{}x{}", bytes[0], bytes.len());
    }
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || b"-?!.".contains(byte);
    let parts = bytes
        .chunk_by(|one, other| is_letter(one) && is_letter(other))
        .map(|part| {
            let is_word = is_letter(&part[0]);
            if is_word {
                String::from_utf8_lossy(part).into_owned()
            } else {
                part[0].to_string()
            }
        });
    Vec::from_iter(parts).join(",")
}

/// The body of a packet of a kind.
fn body(kind: Kind, text: &str) -> Vec<u8> {
    let fields: Vec<&str> = text.split(':').collect();
    let written: Option<Body<BODY>> = match (kind, &fields[..]) {
        (Kind::Confirmation, &[of, verdict, uptime]) => Confirmation {
            number: number(of),
            epoch: 1,
            verdict: named(&VERDICTS, verdict),
            uptime: value(uptime) as u32,
        }
        .write(),
        (Kind::Undeliverable, &[of, kind, reason, dest]) => Undeliverable {
            number: number(of),
            kind: named(&Kind::ALL, kind),
            reason: named(&DropReason::ALL, reason),
            dest: value(dest),
        }
        .write(),
        (Kind::Flooded, &[kind, of, ref inner @ ..]) => Flooded {
            kind: named(&Kind::ALL, kind),
            number: number(of),
            body: &body(named(&Kind::ALL, kind), &inner.join(":")),
        }
        .write(),
        (Kind::Request, &[asks, asked, payload]) => {
            Request::new(query(asks), value(asked) as u32, &bytes(payload)).write()
        }
        _ => return bytes(text),
    };
    written.expect("room for the body").to_vec()
}

fn body_text(kind: Kind, body: &[u8]) -> String {
    let fields = match kind {
        Kind::Confirmation => Confirmation::read(body)
            .map(|confirmation| format!("{}:{}", number_text(confirmation.number), kebab(confirmation.verdict))),
        Kind::Undeliverable => Undeliverable::read(body).map(|report| {
            let (number, kind, reason) = (number_text(report.number), kebab(report.kind), kebab(report.reason));
            format!("{number}:{kind}:{reason}:{}", report.dest)
        }),
        Kind::Flooded => Flooded::read(body).map(|flood| {
            let (kind, number) = (kebab(flood.kind), number_text(flood.number));
            format!("{kind}:{number}:{}", body_text(flood.kind, flood.body))
        }),
        Kind::Response => Response::read(body).map(|response| {
            let (query, number) = (query_text(response.query), number_text(response.number));
            format!("{query}:{}:{number}:{}", response.asked, bytes_text(response.payload))
        }),
        _ => None,
    };
    fields.unwrap_or_else(|| bytes_text(body))
}

type Flag = (&'static str, fn(&mut Header) -> &mut bool);

const FLAGS: [Flag; 5] = [
    ("+traced", |header| &mut header.traced),
    ("+copied", |header| &mut header.copied),
    ("+trail", |header| &mut header.trail),
    ("+to-host", |header| &mut header.to_host),
    ("+from-host", |header| &mut header.from_host),
];

/// `KIND SOURCE>DEST NUMBER`, flags, fields and a body, and in which virtual channel it goes.
fn packet(words: &[&str]) -> (u8, Header, Vec<u8>) {
    let [kind, route, of, rest @ ..] = words else {
        panic!("{words:?} is no packet")
    };
    let kind = named(&Kind::ALL, kind);
    let (source, dest) = route.split_once('>').expect("a source and a destination");
    let mut header = header(kind, value(source), value(dest), number(of));
    let (mut channel, mut content) = (0, Vec::new());
    for word in rest {
        if let Some((_, flag)) = FLAGS.iter().find(|(name, _)| name == word) {
            *flag(&mut header) = true;
            continue;
        }
        match word.split_once('=') {
            Some(("age", age)) => header.age = (value(age) / AGE_UNIT) as u16,
            Some(("epoch", epoch)) => header.epoch = value(epoch) as u16,
            Some(("hops", hops)) => header.hops_left = value(hops) as u16,
            Some(("channel", number)) => channel = value(number) as u8,
            _ => content = body(kind, word),
        }
    }
    (channel, header, content)
}

fn heard_text(heard: &Heard) -> String {
    let mut header = heard.header;
    let Header { kind, source, dest, .. } = header;
    let mut text = format!("{} {source}>{dest} {}", kebab(kind), number_text(header.number));
    for (name, number) in [("channel", heard.channel.into()), ("epoch", header.epoch)] {
        let usual = u16::from(name == "epoch");
        if number != usual {
            text += &format!(" {name}={number}");
        }
    }
    let set = FLAGS.iter().filter(|(_, flag)| *flag(&mut header));
    set.for_each(|(name, _)| text += &format!(" {name}"));
    let body = body_text(kind, &heard.body);
    text += &format!(" {body}");
    text.trim_end().into()
}

fn got_text(got: &Got) -> String {
    let number = number_text(got.number);
    let (what, usual) = match got.kind {
        MessageKind::BoardRequest { number } => (format!("board{number}"), got.port),
        MessageKind::Response(Query::Application(port)) => (format!("response:app{}", port.0), port),
        MessageKind::Response(query) => (format!("response:{}", query_text(query)), got.port),
        MessageKind::Undeliverable { number, dest, reason } => {
            let number = number_text(number);
            (format!("undeliverable:{number}:{}:{dest}", kebab(reason)), got.port)
        }
        other => (kebab(other), APP),
    };
    let port = if got.port == usual {
        String::new()
    } else {
        format!(" port={}", got.port.0)
    };
    let host = if got.from_host { " +from-host" } else { "" };
    let text = format!(
        "{what} {} {number}{port}{host} {}",
        got.source,
        bytes_text(&got.payload)
    );
    text.trim_end().into()
}

fn outcome_text((number, outcome): &(u32, Outcome)) -> String {
    let number = number_text(*number);
    match outcome {
        Outcome::Undeliverable { at, reason } => format!("{number} {} at {at}", kebab(reason)),
        other => format!("{number} {}", kebab(other)),
    }
}

struct Script {
    mesh: Mesh,
    strangers: BTreeMap<String, usize>,
    /// How much of each list has been shown.
    shown: BTreeMap<String, usize>,
    taken: Option<Message<BODY>>,
    marked: Micros,
}

impl Script {
    fn at(&self, stranger: &str) -> usize {
        *self
            .strangers
            .get(stranger)
            .unwrap_or_else(|| panic!("'{stranger}' is nobody"))
    }

    fn stranger(&self, name: &str) -> &Stranger {
        self.mesh.stranger(self.at(name))
    }

    fn stranger_mut(&mut self, name: &str) -> &mut Stranger {
        let at = self.at(name);
        self.mesh.stranger_mut(at)
    }

    /// A link of a node: its number, or `>3` for that to node 3.
    fn link(&self, node: Node, text: &str) -> u8 {
        let to = |to: &str| self.mesh.network.port_to(node, value(to)).unwrap().expect("a link");
        text.strip_prefix('>').map_or_else(|| value(text), to) as u8
    }

    /// What is new in a list since it was last shown.
    fn news<T>(&mut self, name: String, all: impl Fn(&Mesh) -> &[T], text: impl Fn(&T) -> String) -> String {
        let all = all(&self.mesh);
        let from = self.shown.insert(name, all.len()).unwrap_or_default();
        list(all[from.min(all.len())..].iter().map(text), " / ")
    }

    /// Sends something from an application, and says what became of that.
    fn send(&mut self, words: &[&str]) -> String {
        let (port, words) = match words {
            [words @ .., last] if last.starts_with("port=") => (AppPort(value(&last[5..]) as u8), words),
            _ => (APP, words),
        };
        let from = value(words[1]);
        let to = || value(words[2]);
        let payload = bytes(words.last().expect("a payload"));
        let asks = if words[0] == "ask" {
            query(words[3])
        } else {
            Query::Ping
        };
        let sent = self.mesh.act(from, |router, now, note| match words[0] {
            "send" => router.send(to(), port, &payload, now, note),
            "confirmed" => router.send_confirmed(to(), port, &payload, now, note),
            "broadcast" => router.broadcast(port, &payload, now, note),
            "ask" => router.ask(to(), asks, &payload, now, note),
            _ => router.send_to_host(to(), port, &payload, now, note),
        });
        sent.map_or_else(kebab, |_| "ok".into())
    }

    fn act(&mut self, words: &[&str]) -> String {
        let yes = |word: &str| word == "yes";
        match *words {
            ["run", time] => self.mesh.run(value(time)),
            ["up"] => self.mesh.come_up(),
            ["mark"] => self.marked = self.mesh.now,
            ["elapsed"] => return (self.mesh.now - self.marked).to_string(),
            ["cut", one, other] => self.mesh.cut(value(one), value(other)),
            ["restore", one, other] => self.mesh.restore(value(one), value(other)),
            ["mute", from, to, is] => self.mesh.set_mute(value(from), value(to), yes(is)),
            ["swap", node, one, other] => self.mesh.swap(value(node), value(one) as u8, value(other) as u8),
            ["unplug", node, link] => self.mesh.unplug(value(node), self.link(value(node), link)),
            ["off", node] => self.mesh.switch_off(value(node)),
            ["restart", node] => self.mesh.restart(value(node)),
            ["hosts-anywhere", node] => {
                let now = self.mesh.now;
                self.mesh.board_mut(value(node)).allow_hosts(u32::MAX, now);
            }
            ["stranger", name, node, neighbor] => {
                let at = self.mesh.impersonate(value(node), value(neighbor));
                self.strangers.insert(name.into(), at);
            }
            ["host", name, node] => {
                let at = self.mesh.host(value(node));
                self.strangers.insert(name.into(), at);
            }
            ["plug", name, node, link, ref fields @ ..] => {
                let mut identity = self.mesh.identity(0, 0);
                for field in fields {
                    match field.split_once('=') {
                        Some(("address", address)) => identity.address = value(address),
                        Some(("network", network)) => identity.network = value(network) as u32,
                        Some(("mtu", mtu)) => identity.mtu = value(mtu) as u16,
                        _ => identity = self.mesh.host_identity(),
                    }
                }
                let at = self.mesh.plug_in(value(node), self.link(value(node), link), identity);
                self.strangers.insert(name.into(), at);
            }
            ["takes", name, is] => self.stranger_mut(name).takes = yes(is),
            ["accepts", name, is] => {
                let now = self.mesh.now;
                self.stranger_mut(name).link.accept(yes(is), now);
            }
            ["offer", name, "all"] => _ = self.stranger_mut(name).link.offer(Offer::ALL),
            ["offer", name, "nothing"] => _ = self.stranger_mut(name).link.offer(Offer::new(0, 0)),
            ["fetches", node, is] => self.mesh.board_mut(value(node)).fetches = yes(is),
            ["fetch", node] => {
                let now = self.mesh.now;
                self.mesh.board_mut(value(node)).fetch(now);
            }
            ["serve", node, port, room] => {
                let (port, room) = (AppPort(value(port) as u8), value(room) as u8);
                let served = self
                    .mesh
                    .board_mut(value(node))
                    .act(|router, _| router.serve(port, room));
                served.expect("room for one more port");
            }
            ["close", node, port] => {
                let port = AppPort(value(port) as u8);
                self.mesh.board_mut(value(node)).act(|router, _| router.close(port));
            }
            ["send" | "confirmed" | "broadcast" | "ask" | "to-host", ..] => return self.send(words),
            // Sends as often as there is room.
            ["fill", ref send @ ..] => {
                let fits = |_: &u64| self.send(send) == "ok";
                return ((0..100).take_while(fits).count() as u64).to_string();
            }
            ["post", name, ref words @ ..] => {
                let (channel, header, body) = packet(words);
                self.stranger_mut(name).send(channel, &header, &body);
            }
            ["post-bytes", name, content] => self.stranger_mut(name).send_bytes(0, &bytes(content)),
            // The next message of a board whose application does not fetch.
            ["take", node] => {
                let message = self
                    .mesh
                    .board_mut(value(node))
                    .router
                    .next_message()
                    .expect("a message");
                let text = got_text(&Got::of(&message, self.mesh.now));
                self.taken = Some(message);
                return text;
            }
            ["asked-taken"] => {
                let taken = self.taken.as_ref().expect("a request");
                return taken.asked.wrapping_sub(self.marked as u32).to_string();
            }
            ["reply" | "respond", node, content] => {
                let (taken, payload) = (self.taken.clone().expect("a request"), bytes(content));
                let replied = self.mesh.act(value(node), |router, now, note| match words[0] {
                    "reply" => router.reply(&taken, &payload, now, note),
                    _ => router.respond(&taken, AppStatus::Ok, &payload, now, note),
                });
                return replied.map_or_else(kebab, |()| "ok".into());
            }
            ["at-rest"] => self.mesh.assert_at_rest(),
            _ => return self.show(words),
        }
        "ok".into()
    }

    fn show(&mut self, words: &[&str]) -> String {
        let name = words.join(" ");
        let counted = |count: usize| count.to_string();
        let truth = |is: bool| String::from(if is { "yes" } else { "no" });
        let &[what, whose, ref more @ ..] = words else {
            panic!("'{name}' is no statement")
        };
        match (what, more) {
            ("heard", []) => {
                let at = self.at(whose);
                return self.news(name, |mesh| &mesh.stranger(at).heard, heard_text);
            }
            ("downs-of", []) => {
                let at = self.at(whose);
                return self.news(name, |mesh| &mesh.stranger(at).downs, |down| kebab(down));
            }
            ("heard-of", [of]) => {
                let heard = self.stranger(whose).heard.iter();
                return counted(heard.filter(|heard| heard.header.number == number(of)).count());
            }
            // The numbers of the packets of a source, in their order.
            ("heard-from", [source]) => {
                let from = self.stranger(whose).heard.iter();
                let from = from.filter(|heard| heard.header.source.to_string() == *source);
                return list(from.map(|heard| number_text(heard.header.number)), " / ");
            }
            ("heard-of-kind", [kind]) => {
                let heard = self.stranger(whose).heard.iter();
                return counted(heard.filter(|heard| kebab(heard.header.kind) == *kind).count());
            }
            ("last", [what]) => {
                let heard = self.stranger(whose).heard.last().expect("it has heard something");
                return (match *what {
                    "age" => u64::from(heard.header.age) * AGE_UNIT,
                    "hops" => heard.header.hops_left.into(),
                    "number" => heard.header.number.into(),
                    "uptime" => Confirmation::read(&heard.body).expect("a confirmation").uptime.into(),
                    _ => panic!("'{what}' is no part of a packet"),
                })
                .to_string();
            }
            ("unsettled", []) => return counted(self.stranger(whose).unsettled()),
            ("refused", []) => return counted(self.stranger(whose).refused()),
            ("is-up", []) => return truth(self.stranger(whose).link.is_up()),
            _ => {}
        }
        let node = value(whose);
        let board = self.mesh.board(node);
        match (what, more) {
            ("got", []) => self.news(name, |mesh| &mesh.board(node).got, got_text),
            ("outcomes", []) => self.news(name, |mesh| &mesh.board(node).outcomes, outcome_text),
            ("got-in-all", []) => counted(board.got.len()),
            ("last-got", []) => board.got.last().map_or("-".into(), got_text),
            // How often it got this.
            ("got-of", [payload]) => {
                let payload = bytes(payload);
                counted(board.got.iter().filter(|got| got.payload == payload).count())
            }
            // How long after the mark the request was made whose response came last.
            ("asked", []) => {
                let got = board.got.last().expect("a response");
                counted(got.asked.wrapping_sub(self.marked as u32) as usize)
            }
            ("last-outcome", []) => board.outcomes.last().map_or("-".into(), outcome_text),
            ("outcomes-in-all", []) => counted(board.outcomes.len()),
            ("dropped", []) => {
                let reasons = DropReason::ALL.iter().filter(|reason| board.dropped(**reason) > 0);
                let dropped = reasons.map(|reason| format!("{} {}", kebab(reason), board.dropped(*reason)));
                list(dropped, ", ")
            }
            ("dropped", [reason]) => board.dropped(named(&DropReason::ALL, reason)).to_string(),
            ("held", []) => counted(board.router.packets().count()),
            ("events", []) => counted(board.events.0.len()),
            ("sent", []) => counted(board.count(|event| matches!(event, Event::Sent { retransmit: false, .. }))),
            ("detours-by", [of]) => {
                counted(board.count(|event| matches!(event, Event::Detoured { by, .. } if *by == value(of))))
            }
            ("ups", []) => counted(board.ups()),
            ("downs", []) => counted(board.count(|event| matches!(event, Event::LinkDown { .. }))),
            ("downs", [why]) => {
                counted(board.count(|event| matches!(event, Event::LinkDown { reason, .. } if kebab(reason) == *why)))
            }
            ("miswired", []) => {
                let miswired = board.events.0.iter().filter_map(|event| match event {
                    Event::Miswired { link, expected, found } => {
                        let expected = expected.map_or("-".into(), |node| node.to_string());
                        let network = if found.network == self.mesh.network.id() {
                            ""
                        } else {
                            " of another network"
                        };
                        Some(format!("{link}: {} for {expected}{network}", found.address))
                    }
                    _ => None,
                });
                list(miswired, " / ")
            }
            ("links-up", []) => truth(board.router.all_links_up()),
            ("news", []) => truth(board.router.has_news()),
            ("host-link", []) => board.router.host_link().map_or("-".into(), |link| link.to_string()),
            ("link", [link]) => {
                let report = board.router.link_report(self.link(node, link)).expect("a link");
                let up = if report.up { "up" } else { "down" };
                format!("{up}{}", if report.wired { "" } else { ", not wired" })
            }
            ("reached", [to]) => {
                let mut neighbors = board.router.neighbors();
                truth(neighbors.any(|(node, link)| node == value(to) && link.is_some()))
            }
            // One of the counters of the router.
            _ => {
                let counters = format!("{:?}", board.router.counters());
                let (_, of) = counters.split_once(&format!(" {what}: ")).expect(&name);
                of.split([',', ' ']).next().unwrap_or_default().into()
            }
        }
    }

    /// Whether a statement shows what it should, and what it does show.
    fn holds(&mut self, statement: &str) -> (bool, String) {
        let (what, expected) = match statement.split_once(" = ") {
            Some((what, expected)) => (what, Some(expected)),
            None => (statement, None),
        };
        let found = self.act(&Vec::from_iter(what.split(' ')));
        let expected = expected.unwrap_or("ok");
        let is_right = match (found.parse::<u64>(), expected.split_once("..")) {
            (Ok(number), Some((least, below))) => (value(least)..value(below)).contains(&number),
            (Ok(number), None) => value(expected) == number,
            (Err(_), _) => found == expected,
        };
        (is_right, found)
    }

    fn play(&mut self, statement: &str, place: &str) {
        let (mut patience, mut asked) = (0, statement);
        // Goes on until it holds.
        if let Some((time, rest)) = statement.strip_prefix("until ").and_then(|rest| rest.split_once(' ')) {
            (patience, asked) = (value(time), rest);
        }
        let end = self.mesh.now + patience;
        loop {
            let (holds, found) = self.holds(asked);
            if holds {
                return;
            }
            assert!(self.mesh.now < end, "{place}\n{asked}: it is {found}");
            self.mesh.run(100);
        }
    }
}

fn play_case(networks: &str, row: &[(&str, &str)], definitions: &[(&str, &str)], lines: &[(String, &str)]) {
    let (is_new, networks) = match networks.strip_prefix("new ") {
        Some(networks) => (true, networks),
        None => (false, networks),
    };
    for network in networks.split(' ') {
        let mut script = Script {
            mesh: if is_new { Mesh::new(network) } else { Mesh::up(network) },
            strangers: BTreeMap::new(),
            shown: BTreeMap::new(),
            taken: None,
            marked: 0,
        };
        for (place, line) in lines {
            let fill = |line: String, (name, value): &(&str, &str)| {
                line.replace(&format!("{{{name}}}"), &value.replace('_', " "))
            };
            let line = row.iter().fold(String::from(*line), fill);
            let place = format!("{place} in {network}, {row:?}");
            let (times, line) = line.split_once(" times: ").unwrap_or(("1", &line));
            for round in 0..value(times) {
                for statement in line.split("; ") {
                    let defined = definitions.iter().find(|(name, _)| *name == statement);
                    for statement in defined.map_or(statement, |(_, body)| body).split("; ") {
                        script.play(&statement.replace("{i}", &round.to_string()), &place);
                    }
                }
            }
        }
    }
}

/// Plays the cases of a name.
fn play(file: &str, wanted: &str) {
    let (_, text, names) = SCRIPTS.iter().find(|(name, ..)| *name == file).expect("a script");
    let mut definitions = Vec::new();
    let (mut name, mut played) = ("", 0);
    let mut lines = (1..).zip(text.lines()).peekable();
    while let Some((number, line)) = lines.next() {
        if let Some(definition) = line.strip_prefix("define ") {
            definitions.push(definition.split_once(" = ").expect("a name and statements"));
            continue;
        }
        let Some((networks, title)) = line.strip_prefix('[').and_then(|line| line.split_once("] ")) else {
            assert!(
                line.is_empty() || line.starts_with('#'),
                "{file}, line {number}: no case has begun: {line}"
            );
            continue;
        };
        name = if title == "..." { name } else { title };
        assert!(names.contains(&name), "{file}, line {number}: no test plays '{name}'");
        let mut rows = vec![Vec::new()];
        let mut of_case = Vec::new();
        while let Some((number, line)) = lines.next_if(|(_, line)| !line.is_empty() && !line.starts_with('[')) {
            let line = line.split(" # ").next().unwrap_or_default().trim_end();
            if let Some((names, values)) = line.strip_prefix("for ").and_then(|line| line.split_once(" = ")) {
                let row = |values: &'static str| names.split(' ').zip(values.split(' ')).collect();
                rows = values.split(" / ").map(row).collect();
            } else if !line.starts_with("# ") {
                of_case.push((format!("{file}, line {number}: {line}"), line));
            }
        }
        assert!(!of_case.is_empty(), "{file}, line {number}: an empty case");
        if name == wanted {
            played += 1;
            rows.iter()
                .for_each(|row| play_case(networks, row, &definitions, &of_case));
        }
    }
    assert!(played > 0, "{file} has no case '{wanted}'");
}

/// A test plays the cases of its name.
macro_rules! scripts {
    ($($file:ident { $(fn $name:ident();)* })*) => {
        const SCRIPTS: &[(&str, &str, &[&str])] = &[$((
            stringify!($file),
            include_str!(concat!("scripts/", stringify!($file), ".txt")),
            &[$(stringify!($name)),*],
        )),*];
        $($(
            #[test]
            fn $name() {
                play(stringify!($file), stringify!($name));
            }
        )*)*
    };
}

scripts! {
    applications {
        fn packets_say_whom_they_are_for();
        fn what_nobody_serves_is_counted_and_senders_who_wait_are_told();
        fn an_application_without_room_costs_no_other_anything();
        fn a_request_is_answered_by_the_application_that_was_asked();
        fn a_board_sends_to_the_host_at_any_board();
    }
    broadcasts {
        fn a_cable_that_dies_under_a_broadcast_loses_and_doubles_nothing();
        fn a_copy_of_a_broadcast_is_taken_once();
        fn who_has_a_flood_is_not_sent_it_again();
        fn a_source_whose_tree_is_broken_floods_at_once();
        fn a_broadcast_from_before_the_start_is_passed_on_only();
        fn broadcasts_leave_room_for_what_passes();
    }
    cables {
        fn nothing_is_sent_to_one_who_does_not_accept_us();
        fn what_is_too_long_for_a_neighbor_is_not_sent_to_it();
        fn a_neighbor_that_comes_and_goes_is_held_down();
        fn there_is_one_host_and_where_it_belongs();
    }
    confirmed {
        fn one_to_oneself_is_delivered_and_confirmed();
        fn a_retry_ends_where_its_first_copy_still_waits();
        fn so_many_are_under_way_and_no_more();
        fn a_destination_that_is_off_is_undeliverable_after_a_while();
        fn a_board_alone_says_so_itself();
        fn one_that_comes_back_in_time_is_delivered();
        fn a_confirmation_counts_once_and_only_of_this_life();
        fn what_the_destination_answers_decides_when_it_is_tried_again();
        fn a_destination_that_restarts_does_not_deliver_again();
        fn one_that_comes_again_is_confirmed_again_and_not_delivered();
        fn a_full_inbox_is_tried_again();
        fn more_senders_than_are_remembered_are_told_to_wait();
    }
    datagrams {
        fn what_cannot_be_sent_is_refused();
        fn a_board_takes_so_many_packets_of_its_application_and_no_more();
        fn a_hop_takes_one_from_the_hops_left_and_adds_to_the_age();
        fn what_waits_grows_old();
        fn hops_are_used_up();
        fn numbers_begin_elsewhere_after_a_restart();
        fn a_datagram_from_before_the_start_is_not_delivered();
        fn old_packets_are_dropped_and_their_source_is_told();
        fn what_waits_too_long_expires_in_the_queue();
        fn packets_of_one_source_keep_their_order_whatever_their_ages();
        fn a_copy_is_told_from_its_twin_by_source_epoch_number_and_sender();
        fn what_is_no_packet_or_of_no_node_is_dropped();
        fn the_inbox_is_full_if_nobody_fetches();
    }
    detours {
        fn a_cut_cable_is_gone_round_and_back_when_it_is_restored();
        fn an_unreachable_destination_is_reported_to_the_application();
        fn packets_on_a_dying_cable_come_once();
        fn the_trail_names_who_was_visited();
        fn a_trail_ends_where_the_destination_is_nearer();
        fn a_trail_that_is_none_is_malformed();
        fn a_trail_that_does_not_fit_is_the_end();
        fn the_trail_does_not_reach_the_application();
    }
    other_paths {
        fn what_is_not_answered_goes_by_another_path();
        fn a_packet_that_comes_again_is_confirmed_by_another_path();
        fn what_comes_as_a_flood_is_answered_by_a_flood();
        fn a_destination_that_only_floods_reach_is_flooded_at_once();
        fn only_complete_searches_say_that_there_is_no_path();
        fn a_busy_board_does_not_pass_floods_on();
    }
    requests {
        fn a_ping_comes_back_as_it_was();
        fn requests_that_are_none_are_malformed();
        fn requests_for_the_board_are_left_to_it();
        fn a_host_asks_through_its_board();
        fn the_board_is_told_that_a_host_asks();
        fn a_packet_of_its_own_host_that_comes_back_is_passed_on();
        fn without_a_host_there_is_nobody_to_have_its_packets();
    }
    rogues {
        fn what_says_it_is_from_here_and_is_not_goes_no_further();
        fn a_broadcast_comes_from_the_parent_in_its_tree();
    }
    virtual_channels {
        fn virtual_channels_rise_where_the_route_turns();
        fn each_virtual_channel_has_a_buffer_of_its_own();
    }
    wires {
        fn nothing_is_taken_from_someone_who_does_not_belong_there();
        fn cables_may_be_in_any_order();
        fn a_pulled_cable_is_noticed_and_said();
        fn a_board_that_restarts_is_known_again_at_once();
        fn where_there_was_no_room_it_is_tried_again();
        fn a_full_board_says_when_it_has_room_again();
    }
}

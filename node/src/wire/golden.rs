//! The examples of `docs/wire-format.md`, byte by byte: each is what the code writes, and is parsed as what was written.

use std::collections::BTreeMap;
use std::string::String;
use std::vec::Vec;
use std::{assert_eq, panic};

use super::*;
use crate::authority::{Authority, Challenge, authorize, board_key, proven};
use crate::cipher::Cipher;
use crate::key::Key;
use crate::limits::MAX_PAYLOAD;
use crate::signature::sign;
use crate::store::Slot;

const DOCUMENT: &str = include_str!("../../../docs/wire-format.md");

/// The examples that have not been checked yet, by name.
struct Examples(BTreeMap<String, Vec<u8>>);

impl Examples {
    /// `- **name**: words`, and then lines of bytes that are indented by six.
    fn of_the_document() -> Self {
        let (_, section) = DOCUMENT.split_once("## Examples").expect("there are examples");
        let mut examples: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        let mut name = None;
        for line in section.lines() {
            if let Some(rest) = line.strip_prefix("- **") {
                name = rest.split_once("**").map(|(name, _)| String::from(name));
            } else if let (Some(bytes), Some(name)) = (line.strip_prefix("      "), &name) {
                let bytes = bytes.split(' ').map(|byte| u8::from_str_radix(byte, 16).expect(line));
                examples.entry(name.clone()).or_default().extend(bytes);
            }
        }
        Examples(examples)
    }

    fn take(&mut self, name: &str) -> Vec<u8> {
        self.0.remove(name).unwrap_or_else(|| panic!("no example {name:?}"))
    }

    /// Compares written bytes with the example, and returns it for parsing.
    fn wrote(&mut self, name: &str, written: &[u8]) -> Vec<u8> {
        let example = self.take(name);
        assert_eq!(written, example, "{name}");
        example
    }
}

fn written(write: impl FnOnce(&mut [u8]) -> Option<usize>) -> Vec<u8> {
    let mut out = [0xaa; WIRE];
    let length = write(&mut out).unwrap();
    out[..length].to_vec()
}

/// The frame in bytes as they are sent.
fn frame_in(mut bytes: Vec<u8>, look: impl FnOnce(Frame<'_>)) {
    assert_eq!(bytes.pop(), Some(DELIMITER));
    let begin = bytes.iter().take_while(|&&byte| byte == DELIMITER).count();
    look(Frame::read(&cobs::decode_vec(&bytes[begin..]).unwrap(), 0x0300).unwrap());
}

#[test]
fn the_document_and_the_code_agree_on_every_example() {
    let mut examples = Examples::of_the_document();
    numbers(&mut examples);
    frames(&mut examples);
    sealed_frames(&mut examples);
    encrypted(&mut examples);
    headers(&mut examples);
    bodies(&mut examples);
    responses(&mut examples);
    commands(&mut examples);
    config(&mut examples);
    assert!(
        examples.0.is_empty(),
        "examples without a test: {:?}",
        examples.0.keys()
    );
}

fn encrypted(examples: &mut Examples) {
    let content = Content::Datagram(Addressed::new(AppPort(16), b"hello"));
    let header = Header::new(Kind::Datagram, 5, 9).numbered(0x1234, 17);
    let plain: Packet<64> = Packet {
        header,
        body: content.write().unwrap(),
    };
    let mut cipher = Cipher::new(&Key::new(core::array::from_fn(|index| index as u8)));
    let mut packet = plain.clone();
    cipher.seal(&mut packet).unwrap();
    let body = examples.wrote("encrypted datagram", &packet.body);
    packet.body = Body::from_slice(&body).unwrap();
    cipher.open(&mut packet).unwrap();
    assert_eq!(packet, plain);
}

fn numbers(examples: &mut Examples) {
    for (name, number) in [("number 127", 127), ("number 300", 300), ("number 2^64-1", u64::MAX)] {
        let bytes = examples.wrote(name, &written(|out| varint::write(number, out)));
        assert_eq!(varint::read(&bytes), Some((number, &[][..])));
    }
    examples.wrote("offer", &offer().to_bytes());
    examples.wrote("tag", &node().tag(3).to_le_bytes());
}

fn node() -> Identity {
    Identity {
        role: Role::Node,
        network: 0x1234_5678,
        address: 300,
        port: 2,
        epoch: 0x0a00_0b0c,
        mtu: 274,
    }
}

fn offer() -> Offer {
    Offer::new(3, 0x7f)
}

fn hello() -> Hello {
    Hello {
        identity: node(),
        session: 3,
        heard: 0x0900,
        stance: Stance {
            accepts: true,
            holds: false,
        },
        keyed: false,
        keeps_alive: true,
        steps: 0,
    }
}

fn frames(examples: &mut Examples) {
    let of_node = hello();
    let of_host = Hello {
        identity: Identity {
            role: Role::Host,
            network: 0,
            address: 0,
            port: 0,
            epoch: 7,
            mtu: 274,
        },
        session: 1,
        heard: 0,
        stance: Stance::default(),
        keyed: false,
        keeps_alive: false,
        steps: 0,
    };
    let with_rates = Hello {
        steps: 0b1010_1011,
        ..of_node
    };
    for (name, hello) in [
        ("hello of a node", of_node),
        ("hello of a node with rates", with_rates),
        ("hello of a host", of_host),
    ] {
        let bytes = examples.wrote(name, &written(|out| write_hello(&hello, 0, None, out)));
        frame_in(bytes, |frame| assert_eq!(frame, Frame::Hello(hello)));
    }
    let signal = TimeSignal {
        number: 7,
        sent: Some(0x0102_0304),
        mesh: Some(256_000_000),
        rate: 50 * (u32::MAX / 1_000_000) as i32,
        root: 300,
        round: 513,
        hops: 2,
    };
    let bytes = examples.wrote("time signal", &written(|out| write_time(0x0300, &signal, None, out)));
    frame_in(bytes, |frame| assert_eq!(frame, Frame::Time { tag: 0x0300, signal }));
    for (name, message) in [
        ("rate asked for", RateMessage::Ask(3)),
        ("rate tested", RateMessage::Test(2)),
    ] {
        let bytes = examples.wrote(name, &written(|out| write_rate(0x0300, message, None, out)));
        frame_in(bytes, |frame| assert_eq!(frame, Frame::Rate { tag: 0x0300, message }));
    }
    let plain = Ack::new(0x0300, 17);
    let complaint = Ack {
        refused: 0b100,
        offer: offer(),
        missing: Some(2),
        ..plain
    };
    let pause = Ack { pause: 12, ..plain };
    for (name, ack) in [("acknowledgement", plain), ("complaint", complaint), ("pause", pause)] {
        let bytes = examples.wrote(name, &written(|out| write_ack(&ack, false, None, out)));
        frame_in(bytes, |frame| assert_eq!(frame, Frame::Ack(ack)));
    }
    let unhindered = DataHeader {
        ack: plain,
        sequence: 18,
        round: 1,
        channel: 5,
    };
    let header = DataHeader {
        ack: Ack {
            offer: offer(),
            ..plain
        },
        ..unhindered
    };
    for (name, header, retransmit) in [
        ("data", unhindered, false),
        ("data retransmitted", unhindered, true),
        ("data with an offer", header, false),
    ] {
        let bytes = examples.wrote(
            name,
            &written(|out| write_data(&header, [b"pa", b"ck"], retransmit, None, out)),
        );
        let packet = b"pack";
        frame_in(bytes, |frame| assert_eq!(frame, Frame::Data { header, packet }));
    }
}

/// Values computed by another program, from the specifications of BLAKE2s and SipHash.
fn sealed_frames(examples: &mut Examples) {
    let key = Key::new(core::array::from_fn(|place| place as u8));
    let [ours, theirs]: [[u8; 16]; 2] = [0xa0, 0xb0].map(|first| core::array::from_fn(|place| first + place as u8));
    let link = key.derive_key("link", &[&ours, &theirs]);
    examples.wrote("derived key", link.bytes());
    let hello = Hello {
        keyed: true,
        keeps_alive: false,
        ..hello()
    };
    let seal = |number| Seal { key: &link, number };
    let proof = Proof {
        nonce: &ours,
        seal: seal(5),
    };
    let bytes = examples.wrote(
        "hello with a proof",
        &written(|out| write_hello(&hello, 0, Some(proof), out)),
    );
    frame_in(bytes, |frame| assert_eq!(frame, Frame::Hello(hello)));
    let ack = Ack::new(0x0300, 17);
    let bytes = examples.wrote(
        "sealed acknowledgement",
        &written(|out| write_ack(&ack, false, Some(seal(0x1_0006)), out)),
    );
    opened(bytes, seal(0x1_0006), |frame| assert_eq!(frame, Frame::Ack(ack)));
    let header = DataHeader {
        ack: Ack { offer: offer(), ..ack },
        sequence: 18,
        round: 1,
        channel: 5,
    };
    let bytes = examples.wrote(
        "sealed data",
        &written(|out| write_data(&header, [b"pa", b"ck"], false, Some(seal(7)), out)),
    );
    let packet = b"pack";
    opened(bytes, seal(7), |frame| {
        assert_eq!(frame, Frame::Data { header, packet });
    });
    let board = board_key(&key, 17);
    examples.wrote("key of a board", board.bytes());
    let challenge = Challenge { epoch: 5, number: 2 };
    let restart = Command::Restart;
    let tagged = authorize(&board, &challenge, restart.number(), &restart.payload()).unwrap();
    let request = Request::new(restart.query(), 0, &tagged);
    examples.wrote("authorized restart", &request.write::<Body<64>>().unwrap());
    let mut response = structure(examples, "challenge", &challenge);
    let nonce = [0, 1, 2, 3, 4, 5, 6, 7];
    let tag = Authority::new(board, 5).prove(Command::CHALLENGE, &nonce, &response);
    response.extend(tag);
    examples.wrote("challenge with its tag", &response);
    assert!(proven(&board, Command::CHALLENGE, &nonce, &response).is_some());
}

/// The frame in sealed bytes as they are sent; without a key they are ignored.
fn opened(mut bytes: Vec<u8>, seal: Seal<'_>, look: impl FnOnce(Frame<'_>)) {
    assert_eq!(bytes.pop(), Some(DELIMITER));
    let decoded = cobs::decode_vec(&bytes).unwrap();
    let tagged = Tagged::frame(&decoded).unwrap();
    assert_eq!(tagged.number_after(seal.number - 1), seal.number);
    assert!(tagged.is_under(seal));
    look(tagged.read(0x0300).unwrap());
}

fn headers(examples: &mut Examples) {
    let datagram = Header {
        hops_left: 130,
        age: 10,
        ..Header::new(Kind::Datagram, 3, 300).numbered(1, 7)
    };
    let far = Header {
        hops_left: 300,
        number: 0x0001_0007,
        ..datagram
    };
    let all_flags = Header {
        copied: true,
        trail: true,
        traced: true,
        to_host: true,
        from_host: true,
        hops_left: 1,
        age: 2,
        epoch: 3,
        number: 4,
        ..Header::new(Kind::Response, u64::MAX, 0)
    };
    for (name, header) in [("datagram", datagram), ("many hops", far), ("all flags", all_flags)] {
        let bytes = examples.wrote(name, &written(|out| header.write(out)));
        assert_eq!(Header::read(&bytes), Some((header, &[][..])));
    }
    let bytes = examples.wrote("brief datagram", &written(|out| far.write_any(true, out)));
    let low = far.numbered(0, 7);
    assert_eq!(Header::read_any(&bytes), Some((low, true, &[][..])));
    assert_eq!(Header::read(&bytes), None);
}

fn bodies(examples: &mut Examples) {
    let (asked, payload) = (1_000_000, &b"hi"[..]);
    let addressed = Addressed::new(AppPort(20), payload);
    let relayed_request: Body<BODY> = relay_request(&[2, 5], Query::Link, &[3]).unwrap();
    // As the boards leave it that have passed it on, from ports 5, 1 and 0.
    let relayed_response: Body<BODY> = relay_response(&[0, 3, 0x15, 0], &[0]).unwrap();
    let contents = [
        ("datagram to an application", Content::Datagram(addressed)),
        ("broadcast to an application", Content::Broadcast(addressed)),
        (
            "confirmed",
            Content::Confirmed(Confirmed {
                known_epoch: 0x0102,
                port: AppPort(20),
                payload,
            }),
        ),
        (
            "confirmation",
            Content::Confirmation(Confirmation {
                number: 9,
                epoch: 0x0304,
                verdict: Verdict::Delivered,
                uptime: 1_000_000,
            }),
        ),
        (
            "undeliverable",
            Content::Undeliverable(Undeliverable {
                number: 9,
                kind: Kind::Datagram,
                reason: DropReason::NoRoute,
                dest: 300,
            }),
        ),
        ("request", Content::Request(Request::new(Query::Ping, asked, payload))),
        (
            "response",
            Content::Response(Response {
                query: Query::Ping,
                asked,
                number: 9,
                payload,
            }),
        ),
        (
            "request to an application",
            Content::Request(Request::new(Query::Application(AppPort(20)), asked, payload)),
        ),
        (
            "response of an application",
            Content::Response(Response {
                query: Query::Application(AppPort(20)),
                asked,
                number: 9,
                payload: b"\0hi",
            }),
        ),
        (
            "relayed request",
            Content::Request(Request::new(Query::Relay, asked, &relayed_request)),
        ),
        (
            "relayed response",
            Content::Response(Response {
                query: Query::Relay,
                asked,
                number: 9,
                payload: &relayed_response,
            }),
        ),
        (
            "flooded",
            Content::Flooded(Flooded {
                kind: Kind::Confirmed,
                number: 9,
                body: b"\x02\x01\x14hi",
            }),
        ),
    ];
    for (name, content) in contents {
        let bytes = examples.wrote(name, &content.write::<Body<BODY>>().unwrap());
        assert_eq!(Content::read(content.kind(), &bytes), Some(content));
        // A response is from an application, not for one.
        let is_for_one = matches!(content.kind(), Kind::Confirmed) || name.ends_with("to an application");
        assert_eq!(content.addressee(), is_for_one.then_some(AppPort(20)), "{name}");
    }
    let record = TraceRecord {
        node: 300,
        waited: 1_000,
    };
    let bytes = examples.wrote("trace record", &written(|out| record.write(out)));
    assert_eq!(trace_records(&bytes).collect::<Vec<_>>(), [record]);

    let mut body: Body<BODY> = Body::from_slice(b"\x14hi").unwrap();
    let mut trail = Trail::begin(&mut body, 7).unwrap();
    trail.push(300).unwrap();
    assert_eq!(trail.back(), Some(7));
    trail.push(5).unwrap();
    examples.wrote("trail", &body);
    let header = Header {
        trail: true,
        ..Header::new(Kind::Datagram, 1, 2)
    };
    assert_eq!(
        Packet { header, body }.content(),
        Some(Content::Datagram(Addressed::new(AppPort(20), b"hi")))
    );
}

fn card() -> BoardInfo {
    BoardInfo {
        name: "north".try_into().unwrap(),
        program: "hopwise 0.1.0".try_into().unwrap(),
        reset_cause: 2,
        stack_free: 1_234,
    }
}

fn structure<T>(examples: &mut Examples, name: &str, value: &T) -> Vec<u8>
where
    T: serde::Serialize + for<'a> serde::Deserialize<'a> + PartialEq + std::fmt::Debug,
{
    let bytes = examples.wrote(name, &write_structure::<T, Body<BODY>>(value).unwrap());
    assert_eq!(read_structure::<T>(&bytes).as_ref(), Some(value), "{name}");
    bytes
}

fn responses(examples: &mut Examples) {
    let report = NodeReport {
        network: 0x1234_5678,
        address: 17,
        epoch: 5,
        uptime_ms: 3_600_000,
        links: 6,
        neighbors: 4,
        neighbors_up: 3,
        card: card(),
    };
    structure(examples, "identity", &report);
    let counters = RouterCounters {
        carried_over: 1,
        received: 200,
        originated: 30,
        copied: 4,
        delivered: 150,
        forwarded: 60,
        dropped: core::array::from_fn(|reason| reason as u32),
        detoured: 7,
        retried: 8,
        buffers_used: 9,
    };
    structure(examples, "counters", &counters);
    let link = LinkReport {
        up: true,
        fault: LinkFault::None,
        peer: Some((0x1234_5678, 18, 1)),
        host: false,
        wired: true,
        waiting: 2,
        counters: LinkCounters {
            frames_sent: 1_000,
            frames_received: 900,
            packets_sent: 300,
            packets_received: 280,
            resent: 5,
            timeouts: 2,
            useless: 3,
            damaged: 1,
            refused_by_peer: 4,
            not_taken: 6,
            sessions: 2,
            framing_errors: 7,
            noise_errors: 8,
            overruns: 9,
        },
        baud: 3_000_000,
    };
    structure(examples, "link", &Some(link));
    // A report of version 3 ends before the rate.
    let bytes: Body<BODY> = write_structure(&Some(link)).expect("a report");
    let old: Option<LinkReport> = read_structure(&bytes[..bytes.len() - 4]).expect("an old report");
    assert_eq!(old, Some(LinkReport { baud: 0, ..link }));
    structure(examples, "no link", &None::<LinkReport>);
}

fn commands(examples: &mut Examples) {
    let traffic = Traffic::new(1_000, 70_000, Pattern::Neighbors, 200);
    let plan = UpdatePlan {
        board: UpdatePlan::board_named("nucleo-f446re"),
        slot: Slot::Second,
        length: 178_176,
        crc: 0x1234_5678,
        hash: core::array::from_fn(|place| place as u8),
    };
    // Computed by another program, from RFC 8032.
    let signature = sign(&core::array::from_fn(|place| place as u8), &plan, 7, 5);
    let block = Block {
        id: plan.id(),
        index: 300,
        bytes: b"block",
    };
    assert_eq!(Block::read(&block.write()), Some(block));
    let block = block.write();
    let commands = [
        ("status", Command::Status),
        ("read config", Command::ReadConfig),
        ("restart", Command::Restart),
        ("broadcast", Command::Broadcast(b"all")),
        ("start traffic", Command::StartTraffic(traffic)),
        ("traffic", Command::Traffic),
        ("log packets", Command::LogPackets(true)),
        ("keep config", Command::KeepConfig),
        ("fail", Command::Fail(Failure::StackOverflow)),
        ("ask for a challenge", Command::Challenge),
        ("ask how far an update is", Command::Update),
        ("begin an update", Command::BeginUpdate(plan, None)),
        ("begin a signed update", Command::BeginUpdate(plan, Some(signature))),
        ("switch image", Command::SwitchImage(&plan.hash)),
        ("keep image", Command::KeepImage),
        ("send a block", Command::SendBlock(&block)),
        (
            "read a block",
            Command::ReadBlock {
                id: plan.id(),
                index: 300,
            },
        ),
    ];
    for (name, command) in commands {
        let payload: heapless::Vec<u8, MAX_PAYLOAD> = command.payload();
        let request = Request::new(command.query(), 0, &payload);
        let bytes = examples.wrote(name, &request.write::<Body<BODY>>().unwrap());
        let request = Request::read(&bytes).unwrap();
        let Query::Board(number) = request.query else {
            panic!("{name} is for the board")
        };
        assert_eq!(Command::read(number, request.payload), Some(command));
    }
    let status = Status {
        state: BoardState::Configured,
        board: "nucleo-f446re".try_into().unwrap(),
        unique_id: core::array::from_fn(|place| place as u8),
        links: 5,
        baud: 1_000_000,
        uptime_ms: 3_600_000,
        card: card(),
        fault: Some("panic".try_into().unwrap()),
        on_trial: true,
    };
    structure(examples, "board status", &status);
    structure(examples, "crash loop", &BoardState::CrashLoop);
    structure(examples, "done", &CommandResult::Done);
    structure(examples, "not in image", &CommandResult::NotInImage);
    structure(examples, "no loader", &CommandResult::NoLoader);
    structure(examples, "outdated", &CommandResult::Outdated);
    let state = UpdateState {
        board: "nucleo-f446re".try_into().unwrap(),
        slot: Slot::First,
        on_trial: false,
        has_loader: true,
        phase: UpdatePhase::Receiving,
        id: plan.id(),
        missing: 2,
        first_missing: heapless::Vec::from_slice(&[7, 300]).unwrap(),
    };
    structure(examples, "update state", &state);
    let report = TrafficReport {
        sent: 300,
        refused: 2,
        received: 280,
        received_bytes: 17_920,
        running: true,
    };
    structure(examples, "traffic report", &report);
}

fn config(examples: &mut Examples) {
    let config = BoardConfig {
        name: "north".try_into().unwrap(),
        options: 3,
        traffic: Some(Traffic::new(100, 5_000, Pattern::Uniform, 64)),
        ..BoardConfig::new("rdn(ring(3),1)", 17).unwrap()
    };
    let bytes: [u8; CONFIG_BYTES] = examples.wrote("config", &config.write()).try_into().unwrap();
    assert_eq!(BoardConfig::read(&bytes), Ok(config));
    // The command that writes it carries it in its flash layout.
    assert_eq!(&Command::WriteConfig(&bytes).payload()[..], &bytes);
}

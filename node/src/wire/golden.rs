//! The examples of `docs/wire-format.md`, byte by byte: each is what the code writes, and is parsed as what was written.

use std::collections::BTreeMap;
use std::string::String;
use std::vec::Vec;
use std::{assert_eq, format, panic};

use super::*;
use crate::authority::{Authority, Challenge, authorize, board_key, proven};
use crate::cipher::Cipher;
use crate::key::Key;
use crate::limits::MAX_PAYLOAD;
use crate::signature::sign;

/// What the examples say: `NAME | KIND | VALUE`, the value as its `Debug` shows it.
const VALUES: &str = include_str!("golden.txt");
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
    values(&mut examples);
    numbers(&mut examples);
    sealed_frames(&mut examples);
    encrypted(&mut examples);
    bodies(&mut examples);
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

/// The rows of the table.
fn rows() -> impl Iterator<Item = [&'static str; 3]> {
    let rows = VALUES.lines().filter(|line| !line.starts_with('#'));
    rows.map(|row| {
        let mut fields = row.splitn(3, " | ");
        core::array::from_fn(|_| fields.next().expect(row))
    })
}

/// What bytes of a kind say, and what is written of that.
fn read_and_write(kind: &str, bytes: &[u8]) -> (String, Vec<u8>) {
    match kind {
        "header" => {
            let (header, rest) = Header::read(bytes).unwrap();
            assert_eq!(rest, []);
            (format!("{header:?}"), written(|out| header.write(out)))
        }
        "frame" | "retransmitted frame" => {
            let mut found = None;
            frame_in(bytes.to_vec(), |frame| {
                let bytes = written(|out| match frame {
                    Frame::Hello(hello) => write_hello(&hello, 0, None, out),
                    Frame::Time { tag, signal } => write_time(tag, &signal, None, out),
                    Frame::Rate { tag, message } => write_rate(tag, message, None, out),
                    Frame::Ack(ack) => write_ack(&ack, false, None, out),
                    Frame::Data { header, packet } => {
                        let (begin, rest) = packet.split_at(2);
                        write_data(&header, [begin, rest], kind != "frame", None, out)
                    }
                    Frame::OtherVersion(_) | Frame::Unknown => None,
                });
                found = Some((format!("{frame:?}"), bytes));
            });
            found.unwrap()
        }
        "command" => {
            let command = command(bytes);
            let payload: heapless::Vec<u8, MAX_PAYLOAD> = command.payload();
            let request = Request::new(command.query(), 0, &payload);
            let again = request.write::<Body<BODY>>().unwrap().to_vec();
            (format!("{command:?}"), again)
        }
        "trace record" => {
            let record = trace_records(bytes).next().unwrap();
            (format!("{record:?}"), written(|out| record.write(out)))
        }
        "config" => {
            let bytes: &[u8; CONFIG_BYTES] = bytes.try_into().unwrap();
            let config = BoardConfig::read(bytes).unwrap();
            // The command that writes it carries it in its flash layout.
            assert_eq!(&Command::WriteConfig(bytes).payload()[..], bytes);
            (format!("{config:?}"), config.write().to_vec())
        }
        "NodeReport" => structure::<NodeReport>(bytes),
        "RouterCounters" => structure::<RouterCounters>(bytes),
        "LinkReport" => structure::<Option<LinkReport>>(bytes),
        "Status" => structure::<Status>(bytes),
        "BoardState" => structure::<BoardState>(bytes),
        "CommandResult" => structure::<CommandResult>(bytes),
        "UpdateState" => structure::<UpdateState>(bytes),
        "TrafficReport" => structure::<TrafficReport>(bytes),
        _ => {
            let kind = Kind::ALL.into_iter().find(|known| known.name() == kind);
            let content = Content::read(kind.expect("a kind"), bytes).unwrap();
            let again = content.write::<Body<BODY>>().unwrap().to_vec();
            (format!("{content:?}"), again)
        }
    }
}

fn command(bytes: &[u8]) -> Command<'_> {
    let request = Request::read(bytes).unwrap();
    let Query::Board(number) = request.query else {
        panic!("{request:?} is not for the board")
    };
    Command::read(number, request.payload).unwrap()
}

fn structure<T>(bytes: &[u8]) -> (String, Vec<u8>)
where
    T: serde::Serialize + for<'a> serde::Deserialize<'a> + std::fmt::Debug,
{
    let value = read_structure::<T>(bytes).unwrap();
    let again = write_structure::<T, Body<BODY>>(&value).unwrap();
    (format!("{value:?}"), again.to_vec())
}

fn values(examples: &mut Examples) {
    for [name, kind, value] in rows() {
        let bytes = examples.take(name);
        let (found, again) = read_and_write(kind, &bytes);
        assert_eq!(found, value, "{name}");
        assert_eq!(again, bytes, "{name}");
    }
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

/// Values computed by another program, from the specifications of BLAKE2s and SipHash.
fn sealed_frames(examples: &mut Examples) {
    let key = Key::new(core::array::from_fn(|place| place as u8));
    let [ours, theirs]: [[u8; 16]; 2] = [0xa0, 0xb0].map(|first| core::array::from_fn(|place| first + place as u8));
    let link = key.derive_key("link", &[&ours, &theirs]);
    examples.wrote("derived key", link.bytes());
    let hello = Hello {
        identity: node(),
        session: 3,
        heard: 0x0900,
        stance: Stance {
            accepts: true,
            holds: false,
        },
        keyed: true,
        keeps_alive: false,
        steps: 0,
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
    let written = write_structure::<_, Body<64>>(&challenge).unwrap();
    let mut response = examples.wrote("challenge", &written);
    assert_eq!(read_structure(&response), Some(challenge));
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

/// What rows of the table cannot say.
fn bodies(examples: &mut Examples) {
    let far = Header {
        hops_left: 300,
        age: 10,
        ..Header::new(Kind::Datagram, 3, 300).numbered(1, 0x0001_0007)
    };
    let bytes = examples.wrote("brief datagram", &written(|out| far.write_any(true, out)));
    let low = far.numbered(0, 7);
    assert_eq!(Header::read_any(&bytes), Some((low, true, &[][..])));
    assert_eq!(Header::read(&bytes), None);

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

/// A response is from an application, not for one.
#[test]
fn contents_say_for_which_application_they_are() {
    let mut examples = Examples::of_the_document();
    for [name, kind, _] in rows() {
        if let Some(kind) = Kind::ALL.into_iter().find(|known| known.name() == kind) {
            let bytes = examples.take(name);
            let is_for_one = matches!(kind, Kind::Confirmed) || name.ends_with("to an application");
            let addressee = Content::read(kind, &bytes).unwrap().addressee();
            assert_eq!(addressee, is_for_one.then_some(AppPort(20)), "{name}");
        }
    }
}

/// The signature was computed by another program, from RFC 8032.
#[test]
fn an_update_is_named_and_signed_by_its_plan() {
    let mut examples = Examples::of_the_document();
    let bytes = examples.take("begin a signed update");
    let Command::BeginUpdate(plan, Some(signature)) = command(&bytes) else {
        panic!("it is not signed")
    };
    assert_eq!(plan.board, UpdatePlan::board_named("nucleo-f446re"));
    assert_eq!(signature, sign(&core::array::from_fn(|place| place as u8), &plan, 7, 5));
    let block = Block {
        id: plan.id(),
        index: 300,
        bytes: b"block",
    };
    assert_eq!(Block::read(&block.write()), Some(block));
    assert_eq!(
        command(&examples.take("send a block")),
        Command::SendBlock(&block.write())
    );
}

/// A report of version 3 ends before the rate.
#[test]
fn old_reports_of_links_have_no_rate() {
    let bytes = Examples::of_the_document().take("link");
    let link: Option<LinkReport> = read_structure(&bytes).unwrap();
    let old: Option<LinkReport> = read_structure(&bytes[..bytes.len() - 4]).unwrap();
    assert_eq!(old, link.map(|link| LinkReport { baud: 0, ..link }));
}

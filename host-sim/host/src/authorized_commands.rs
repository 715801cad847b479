//! Commands that change boards of a mesh with keys: each is signed once, for what the board itself says.
//!
//! The board's challenge is requested first, with a nonce. The response counts only if it has the tag of that board and of that request, and so does
//! the result of the command: whatever else comes is ignored, as if it had been lost. So a member on the path can withhold and delay a command,
//! but the host signs for no other board, epoch or number, and never believes that a command was executed if it was not.
//!
//! Commands to one board are sent one after the other, each with the number after that of the one before.
//!
//! A board of version 3 of the wire format proves nothing. If the host is told to [trust](AuthorizedCommands::trust_version_3) that there are such, they
//! get their update by [commands](UPDATE) that are signed for what they say, and no others.

use hopwise_node::authority::{Challenge, authorize, board_key, proven};
use hopwise_node::key::{KEY_BYTES, Key, TAG_BYTES, Tag};
use hopwise_node::link::Micros;
use hopwise_node::wire::{Command, CommandResult, Query, read_structure};

use super::talk::Reply;

/// Maximum number of commands in flight.
const MOST: usize = 64;
/// Time for which the commands after one wait for its result.
const WAIT: Micros = 500_000;
/// The numbers of the commands by which a board gets an update.
const UPDATE: std::ops::RangeInclusive<u8> = 12..=15;

/// A command without a response so far.
#[derive(Debug)]
struct Pending {
    /// The number by which the caller knows it.
    number: u32,
    dest: u64,
    command: u8,
    payload: Vec<u8>,
    stage: Stage,
}

#[derive(Debug, PartialEq, Eq)]
enum Stage {
    /// The challenge is requested in the packet of this number.
    Asked { packet: u32, nonce: Tag },
    /// Another command to the same board comes first.
    Waits,
    /// It is signed for this challenge and sent in the packet of this number.
    Sent {
        packet: u32,
        challenge: Challenge,
        signed: Vec<u8>,
        at: Micros,
    },
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The reply is for the caller, to the request of this number.
    Pass(u32, Reply),
    /// Request the challenge of a node with this nonce, for the command of this number.
    Ask { dest: u64, number: u32, nonce: Tag },
    Send {
        dest: u64,
        number: u32,
        command: u8,
        payload: Vec<u8>,
    },
}

#[derive(Debug)]
pub(super) struct AuthorizedCommands {
    management: Key,
    /// Not the same in any two programs, and the number of nonces made of it.
    random: [u8; KEY_BYTES],
    nonces: u64,
    trusts_version_3: bool,
    pending: Vec<Pending>,
}

impl AuthorizedCommands {
    pub(super) fn new(management: Key, random: [u8; KEY_BYTES]) -> Self {
        AuthorizedCommands {
            management,
            random,
            nonces: 0,
            trusts_version_3: false,
            pending: Vec::new(),
        }
    }

    /// From now on boards that say that they are of version 3 get an update.
    pub(super) fn trust_version_3(&mut self) {
        self.trusts_version_3 = true;
    }

    /// What comes first for a command that will have this number; `None` if it needs no authorization.
    pub(super) fn begin(&mut self, number: u32, dest: u64, query: Query, payload: &[u8], is_old: bool) -> Option<Next> {
        let Query::Board(command) = query else { return None };
        if !Command::changes(command) {
            return None;
        }
        if is_old && !(self.trusts_version_3 && UPDATE.contains(&command)) {
            let refusal = CommandResult::NotAllowed as u8;
            return Some(Next::Pass(number, Reply::Response(vec![refusal])));
        }
        if self.pending.len() == MOST {
            // It has no response, and no caller waits for it any more.
            self.pending.remove(0);
        }
        self.pending.push(Pending {
            number,
            dest,
            command,
            payload: payload.to_vec(),
            stage: Stage::Waits,
        });
        Some(self.ask(number, dest))
    }

    fn ask(&mut self, number: u32, dest: u64) -> Next {
        self.nonces += 1;
        let parts: [&[u8]; 2] = [&self.random, &self.nonces.to_le_bytes()];
        let bytes = self.management.derive("nonce", &parts);
        let nonce = *bytes.first_chunk::<TAG_BYTES>().expect("it is longer");
        Next::Ask { dest, number, nonce }
    }

    pub(super) fn asked(&mut self, number: u32, packet: u32, nonce: Tag) {
        for pending in self.pending.iter_mut().filter(|pending| pending.number == number) {
            pending.stage = Stage::Asked { packet, nonce };
        }
    }

    pub(super) fn sent(&mut self, number: u32, in_packet: u32) {
        for pending in self.pending.iter_mut().filter(|pending| pending.number == number) {
            if let Stage::Sent { packet, .. } = &mut pending.stage {
                *packet = in_packet;
            }
        }
    }

    /// Processes the reply to a packet. `is_old` says that the boards speak version 3.
    pub(super) fn reply(&mut self, number: u32, reply: Reply, is_old: bool, now: Micros) -> Vec<Next> {
        let is_it = |pending: &Pending| match pending.stage {
            Stage::Asked { packet, .. } | Stage::Sent { packet, .. } => packet == number,
            Stage::Waits => false,
        };
        let Some(place) = self.pending.iter().position(is_it) else {
            return vec![Next::Pass(number, reply)];
        };
        let is_old = is_old && self.trusts_version_3;
        let pending = &mut self.pending[place];
        let key = board_key(&self.management, pending.dest);
        // A board of version 3 proves nothing.
        let content = |command: u8, request: &[u8], bytes: &[u8]| match is_old {
            true => Some(bytes.to_vec()),
            false => proven(&key, command, request, bytes).map(<[u8]>::to_vec),
        };
        match (&pending.stage, reply) {
            (Stage::Asked { nonce, .. }, Reply::Response(bytes)) => {
                // That of a board without keys is shorter.
                let content = content(Command::CHALLENGE, nonce, &bytes).filter(|content| content.len() > 1);
                let challenge = content.and_then(|content| read_structure(&content));

                let Some(challenge) = challenge else { return Vec::new() };
                let dest = pending.dest;
                pending.stage = Stage::Waits;
                let is_taken = |other: &Pending| match &other.stage {
                    Stage::Sent { challenge: its, at, .. } => *its == challenge && now.saturating_sub(*at) < WAIT,
                    Stage::Asked { .. } | Stage::Waits => false,
                };
                if self.pending.iter().any(|other| other.dest == dest && is_taken(other)) {
                    return Vec::new();
                }
                self.sign(place, challenge, now).into_iter().collect()
            }
            (Stage::Sent { challenge, signed, .. }, Reply::Response(bytes)) => {
                let Some(content) = content(pending.command, signed, &bytes) else {
                    return Vec::new();
                };

                let challenge = *challenge;
                let was_obeyed = read_structure(&content) != Some(CommandResult::NotAllowed);
                let done = self.pending.remove(place);
                let reply = Reply::Response(content);
                let waits = |other: &Pending| other.dest == done.dest && other.stage == Stage::Waits;
                let next = self.pending.iter().position(waits).and_then(|place| {
                    let number = self.pending[place].number;
                    match challenge.number.checked_add(1).filter(|_| was_obeyed) {
                        Some(number) => self.sign(place, Challenge { number, ..challenge }, now),
                        None => Some(self.ask(number, done.dest)),
                    }
                });
                [Next::Pass(done.number, reply)].into_iter().chain(next).collect()
            }
            // Nothing was signed, so the caller may be told.
            (Stage::Asked { .. }, reply) => vec![Next::Pass(self.pending.remove(place).number, reply)],
            // Whoever says so, the command may yet arrive.
            (Stage::Sent { .. } | Stage::Waits, _) => Vec::new(),
        }
    }

    /// Signs a command for a challenge. One that does not fit is forgotten.
    fn sign(&mut self, place: usize, challenge: Challenge, at: Micros) -> Option<Next> {
        let pending = &mut self.pending[place];
        let key = board_key(&self.management, pending.dest);
        let Some(signed) = authorize(&key, &challenge, pending.command, &pending.payload) else {
            self.pending.remove(place);
            return None;
        };
        let payload = signed.to_vec();
        pending.stage = Stage::Sent {
            packet: 0,
            challenge,
            signed: payload.clone(),
            at,
        };
        Some(Next::Send {
            dest: pending.dest,
            number: pending.number,
            command: pending.command,
            payload,
        })
    }
}

#[cfg(test)]
mod tests {
    use hopwise_node::authority::Authority;
    use hopwise_node::wire::DropReason;

    use super::*;

    const KEY: Key = Key::new([2; 16]);
    const RESTART: u8 = 3;

    fn written<T: serde::Serialize>(value: &T) -> Vec<u8> {
        let body = hopwise_node::wire::write_structure::<T, hopwise_node::wire::Body<64>>(value).unwrap();
        body.to_vec()
    }

    /// A board as its firmware answers, and the host with commands for it. Packets of the host are numbered from 100 on.
    struct Both {
        board: Authority,
        obeyed: Vec<Vec<u8>>,
        host: AuthorizedCommands,
        packets: u32,
        told: Vec<(u32, Reply)>,
        /// What the host signed, in order.
        signed: Vec<Vec<u8>>,
    }

    #[derive(Clone, Debug)]
    struct Request {
        packet: u32,
        command: u8,
        bytes: Vec<u8>,
    }

    impl Both {
        fn new() -> Self {
            Both {
                board: Authority::new(board_key(&KEY, 5), 9),
                obeyed: Vec::new(),
                host: AuthorizedCommands::new(KEY, [7; 16]),
                packets: 100,
                told: Vec::new(),
                signed: Vec::new(),
            }
        }

        fn begin(&mut self, number: u32, payload: &[u8]) -> Vec<Request> {
            let next = self.host.begin(number, 5, Command::Restart.query(), payload, false);
            self.requests(next.into_iter().collect())
        }

        fn requests(&mut self, nexts: Vec<Next>) -> Vec<Request> {
            let mut requests = Vec::new();
            for next in nexts {
                self.packets += 1;
                let packet = self.packets;
                let (command, bytes) = match next {
                    Next::Pass(number, reply) => {
                        self.told.push((number, reply));
                        continue;
                    }
                    Next::Ask { number, nonce, .. } => {
                        self.host.asked(number, packet, nonce);
                        (Command::CHALLENGE, nonce.to_vec())
                    }
                    #[rustfmt::skip]
                    Next::Send { number, command, payload, .. } => {
                        self.host.sent(number, packet);
                        self.signed.push(payload.clone());
                        (command, payload)
                    }
                };
                requests.push(Request { packet, command, bytes });
            }
            requests
        }

        /// The board obeys, as that of `runner` does.
        fn answer(&mut self, request: &Request) -> Vec<u8> {
            let mut response = if request.command == Command::CHALLENGE {
                written(&self.board.challenge())
            } else if let Some(payload) = self.board.check(request.command, &request.bytes) {
                self.obeyed.push(payload.to_vec());
                written(&CommandResult::Done)
            } else {
                written(&CommandResult::NotAllowed)
            };
            response.extend(self.board.prove(request.command, &request.bytes, &response));
            response
        }

        fn hear(&mut self, packet: u32, response: Vec<u8>) -> Vec<Request> {
            let nexts = self.host.reply(packet, Reply::Response(response), false, 0);
            self.requests(nexts)
        }

        fn settle(&mut self, mut requests: Vec<Request>) {
            while !requests.is_empty() {
                let request = requests.remove(0);
                let response = self.answer(&request);
                requests.extend(self.hear(request.packet, response));
            }
        }
    }

    fn done() -> Reply {
        Reply::Response(written(&CommandResult::Done))
    }

    #[test]
    fn commands_are_sent_one_after_the_other_and_each_once() {
        let mut both = Both::new();
        assert_eq!(both.host.begin(1, 5, Query::Ping, &[], false), None);
        assert_eq!(both.host.begin(1, 5, Command::Status.query(), &[], false), None);
        let payloads = [b"a", b"b", b"c"];
        let begun = (1..).zip(payloads);
        let requests = begun.flat_map(|(number, payload)| both.begin(number, payload));
        let requests = requests.collect();
        both.settle(requests);
        assert_eq!(both.told, [1, 2, 3].map(|number| (number, done())));
        assert_eq!(both.obeyed, payloads);
        // Each was signed once, for the number after that of the one before.
        assert_eq!(both.signed.len(), 3);
        assert!(both.host.pending.is_empty());
    }

    #[test]
    fn a_command_that_another_host_came_before_is_not_signed_again() {
        let mut both = Both::new();
        let asked = both.begin(1, b"");
        let response = both.answer(&asked[0]);
        let other = authorize(&board_key(&KEY, 5), &both.board.challenge(), RESTART, b"").unwrap();
        assert!(both.board.check(RESTART, &other).is_some());
        let sent = both.hear(asked[0].packet, response);
        both.settle(sent);
        let refused = Reply::Response(written(&CommandResult::NotAllowed));
        assert_eq!((both.told, both.signed.len()), (vec![(1, refused)], 1));
    }

    /// A member on the path has the key of the mesh, and none of a board. It says in the board's name what it likes, and nothing comes of it.
    #[test]
    fn a_member_that_answers_in_the_name_of_a_board_gets_no_signature_and_is_not_believed() {
        let mut both = Both::new();
        let asked = both.begin(1, b"").remove(0);
        let future = Challenge { epoch: 20, number: 0 };
        let recorded = both.answer(&asked);
        let mut altered = recorded.clone();
        altered[0] ^= 1;
        let stolen = Authority::new(board_key(&KEY, 6), 9);
        let of_another_board = stolen.prove(asked.command, &asked.bytes, &written(&future));
        let forged = [
            written(&future),
            [written(&future), vec![0; TAG_BYTES]].concat(),
            altered,
            [written(&future), of_another_board.to_vec()].concat(),
            written(&CommandResult::Done),
            Vec::new(),
        ];
        for response in forged.clone() {
            assert!(both.hear(asked.packet, response).is_empty());
        }
        // The response to an earlier request, before a restart.
        both.board = Authority::new(board_key(&KEY, 5), 10);
        let again = both.begin(2, b"").remove(0);
        assert!(both.hear(again.packet, recorded).is_empty(), "another nonce");
        assert!(both.signed.is_empty() && both.told.is_empty());
        // The board is heard after all, and its command is signed. Then the result is forged, or that to what was altered.
        let response = both.answer(&again);
        let sent = both.hear(again.packet, response).remove(0);
        for response in forged {
            assert!(both.hear(sent.packet, response).is_empty());
        }
        let mut other = sent.clone();
        other.bytes.insert(0, 1);
        let refused = both.answer(&other);
        assert!(both.hear(sent.packet, refused).is_empty());
        let lost = Reply::Undeliverable(DropReason::NoRoute);
        assert_eq!(both.host.reply(sent.packet, lost, false, 0), [], "it may yet arrive");
        // One that is repeated is not obeyed again.
        let response = both.answer(&sent);
        both.answer(&sent);
        both.hear(sent.packet, response);
        assert_eq!((both.told, both.obeyed.len()), (vec![(2, done())], 1));
        // All that it has got is of no use at a later start.
        let later = (11..40).map(|epoch| Authority::new(board_key(&KEY, 5), epoch));
        let mut checked = later.map(|mut board| board.check(RESTART, &sent.bytes).is_none());
        assert!(checked.all(|refused| refused));
        assert_eq!(both.signed, [sent.bytes]);
    }

    #[test]
    fn results_that_are_withheld_lead_to_no_signature_for_a_number_to_come() {
        let mut both = Both::new();
        for number in 0..8 {
            let asked = both.begin(number, b"").remove(0);
            let response = both.answer(&asked);
            both.hear(asked.packet, response);
        }
        let now = both.board.challenge();
        let signed = authorize(&board_key(&KEY, 5), &now, RESTART, b"").unwrap().to_vec();
        assert_eq!(both.signed, [signed]);
    }

    #[test]
    fn a_board_that_says_it_is_of_version_3_gets_an_update_if_it_is_trusted_and_nothing_else() {
        let mut both = Both::new();
        let refused = Reply::Response(written(&CommandResult::NotAllowed));
        let keep = Command::KeepImage;
        let unasked = both.host.begin(1, 5, keep.query(), &[], true);
        assert_eq!(unasked, Some(Next::Pass(1, refused.clone())));
        // Nor does it help to change the version between challenge and command.
        let asked = both.begin(1, b"").remove(0);
        let challenge = Reply::Response(written(&both.board.challenge()));
        assert_eq!(both.host.reply(asked.packet, challenge.clone(), true, 0), []);
        both.host.trust_version_3();
        let restart = both.host.begin(1, 5, Command::Restart.query(), &[], true);
        assert_eq!(restart, Some(Next::Pass(1, refused)));
        let next = both.host.begin(2, 5, keep.query(), &[], true);
        let asked = both.requests(next.into_iter().collect()).remove(0);
        let nexts = both.host.reply(asked.packet, challenge, true, 0);
        let sent = both.requests(nexts).remove(0);
        assert!(both.board.check(sent.command, &sent.bytes).is_some());
        let nexts = both.host.reply(sent.packet, done(), true, 0);
        both.requests(nexts);
        assert_eq!(both.told, [(2, done())]);
    }
}

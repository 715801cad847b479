//! Commands that change boards of a mesh with keys: each is sent with a tag that authorizes it.
//!
//! The board's challenge is requested first. If another command was executed in between, the board rejects this one, and it is retried.

use hopwise_node::authority::{Challenge, authorize, board_key};
use hopwise_node::key::Key;
use hopwise_node::wire::{Command, CommandResult, Query};

use super::talk::Reply;

/// Maximum number of commands in flight.
const MOST: usize = 64;
/// Maximum number of attempts per command.
const TRIES: u8 = 8;

/// A command without a response so far.
#[derive(Debug)]
struct Pending {
    /// The number by which the caller knows it.
    number: u32,
    /// The number of the packet in which it was last sent: new each time, or the board would take it for a duplicate.
    sent: Option<u32>,
    dest: u64,
    command: u8,
    payload: Vec<u8>,
    /// The packet in which the challenge was requested, if it has not come.
    asked: Option<u32>,
    tries: u8,
}

/// The next action.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The reply is for the caller.
    Pass,
    /// Request the challenge of a node, for the command of this number.
    Ask { dest: u64, number: u32 },
    /// Send the command of this number with these bytes.
    Send {
        dest: u64,
        number: u32,
        command: u8,
        payload: Vec<u8>,
    },
}

/// The commands in flight.
#[derive(Debug)]
pub(super) struct AuthorizedCommands {
    management: Key,
    pending: Vec<Pending>,
}

impl AuthorizedCommands {
    pub(super) fn new(management: Key) -> Self {
        AuthorizedCommands {
            management,
            pending: Vec::new(),
        }
    }

    /// Takes a command over if it needs authorization; it will have this number.
    pub(super) fn begin(&mut self, number: u32, dest: u64, query: Query, payload: &[u8]) -> bool {
        let Query::Board(command) = query else { return false };
        if !Command::changes(command) {
            return false;
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
            sent: None,
            asked: None,
            tries: 0,
        });
        true
    }

    /// Records the packet in which the challenge for a command was requested.
    pub(super) fn asked(&mut self, number: u32, asked: u32) {
        for pending in self.pending.iter_mut().filter(|pending| pending.number == number) {
            pending.asked = Some(asked);
            pending.tries += 1;
        }
    }

    /// Records the packet in which a command was sent.
    pub(super) fn sent(&mut self, number: u32, sent: u32) {
        for pending in self.pending.iter_mut().filter(|pending| pending.number == number) {
            pending.sent = Some(sent);
        }
    }

    /// Processes a reply. One for the caller gets the number of the original request.
    pub(super) fn reply(&mut self, number: &mut u32, reply: &Reply) -> Next {
        let is_it = |pending: &Pending| [pending.asked, pending.sent].contains(&Some(*number));
        let Some(place) = self.pending.iter().position(is_it) else {
            return Next::Pass;
        };
        let pending = &mut self.pending[place];
        if pending.asked.take_if(|asked| asked == number).is_some() {
            if let Some(challenge) = challenge(reply) {
                let key = board_key(&self.management, pending.dest);
                if let Some(payload) = authorize(&key, &challenge, pending.command, &pending.payload) {
                    return Next::Send {
                        dest: pending.dest,
                        number: pending.number,
                        command: pending.command,
                        payload: payload.to_vec(),
                    };
                }
            }
        } else if reply.read() == Some(CommandResult::NotAllowed) && pending.tries < TRIES {
            return Next::Ask {
                dest: pending.dest,
                number: pending.number,
            };
        }
        *number = self.pending.remove(place).number;
        Next::Pass
    }
}

/// A challenge is longer than the response of a board without keys.
fn challenge(reply: &Reply) -> Option<Challenge> {
    match reply {
        Reply::Response(bytes) if bytes.len() > 1 => reply.read(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use hopwise_node::authority::Authority;

    use super::*;

    const KEY: Key = Key::new([2; 16]);

    fn response<T: serde::Serialize>(value: &T) -> Reply {
        let body = hopwise_node::wire::write_structure::<T, hopwise_node::wire::Body<64>>(value).unwrap();
        Reply::Response(body.to_vec())
    }

    #[test]
    fn a_command_is_sent_with_proof_and_again_if_another_came_between() {
        let mut board = Authority::new(board_key(&KEY, 5), 9);
        let mut authorized_commands = AuthorizedCommands::new(KEY);
        assert!(!authorized_commands.begin(1, 5, Query::Ping, &[]));
        assert!(!authorized_commands.begin(1, 5, Command::Status.query(), &[]));
        assert!(authorized_commands.begin(1, 5, Command::Restart.query(), b"x"));
        authorized_commands.asked(1, 2);
        let old = board.challenge();
        let other = authorize(&board_key(&KEY, 5), &old, 3, b"").unwrap();
        assert!(board.check(3, &other).is_some());
        for (challenge, asked, authenticated) in [(old, 2, false), (board.challenge(), 3, true)] {
            let Next::Send {
                payload,
                number,
                command,
                ..
            } = authorized_commands.reply(&mut { asked }, &response(&challenge))
            else {
                panic!("it is not sent")
            };
            assert_eq!((number, command), (1, Command::Restart.number()));
            assert_eq!(board.check(command, &payload).is_some(), authenticated);
            let done = if authenticated {
                CommandResult::Done
            } else {
                CommandResult::NotAllowed
            };
            authorized_commands.sent(number, 10 + asked);
            let mut replied = 10 + asked;
            let next = authorized_commands.reply(&mut replied, &response(&done));
            assert_eq!(replied, if authenticated { 1 } else { 10 + asked });
            match next {
                Next::Ask { dest: 5, number: 1 } if !authenticated => authorized_commands.asked(1, 3),
                Next::Pass => assert!(authenticated),
                other => panic!("{other:?}"),
            }
        }
        assert!(authorized_commands.pending.is_empty());
    }

    #[test]
    fn what_a_board_without_keys_says_is_the_response_to_the_command() {
        let mut authorized_commands = AuthorizedCommands::new(KEY);
        assert!(authorized_commands.begin(1, 5, Command::Restart.query(), &[]));
        authorized_commands.asked(1, 2);
        let mut number = 2;
        assert_eq!(
            authorized_commands.reply(&mut number, &response(&CommandResult::Unknown)),
            Next::Pass
        );
        assert_eq!(number, 1);
    }
}

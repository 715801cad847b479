//! Commands to a board, beyond the requests that its node answers.

use heapless::{String, Vec};
use serde::{Deserialize, Serialize};

use super::board_config::CONFIG_BYTES;
use super::report::BoardInfo;
use super::request::Query;
use super::traffic::Traffic;
use super::update::{Block, PLAN_BYTES, UpdatePlan};
use crate::boot::HASH_BYTES;
use crate::limits::MAX_PAYLOAD;
use crate::signature::Signature;

/// A command to the board. [`Query::Board`] carries its [`number`](Self::number), the request's payload the rest; the
/// responses are in postcard format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command<'a> {
    /// Reads the state of the board. The response is a [`Status`].
    Status,
    /// Reads the config. The response is its bytes, whatever they are.
    ReadConfig,
    /// Writes the config and restarts. The response is [`CommandResult`]; it comes before the flash is touched. If this comes over the
    /// mesh, the config is on trial: a minute after the restart the board reverts to the previous one, unless
    /// [`KeepConfig`](Self::KeepConfig) has come.
    WriteConfig(&'a [u8; CONFIG_BYTES]),
    /// Restarts. The response is [`CommandResult`].
    Restart,
    /// Broadcasts this payload. The response is [`CommandResult`].
    Broadcast(&'a [u8]),
    /// Starts generated traffic, or stops it if the rate is 0. The response is [`CommandResult`].
    StartTraffic(Traffic),
    /// Reads the result of generated traffic. The response is a [`TrafficReport`](super::TrafficReport).
    Traffic,
    /// Sets whether every packet is logged. The response is [`CommandResult`].
    LogPackets(bool),
    /// Confirms the config. The response is [`CommandResult`].
    KeepConfig,
    /// Fails on purpose, to show the recovery. The response is [`CommandResult`].
    Fail(Failure),
    /// Reads the challenge for the next command that changes the board. The response is a [`Challenge`](crate::authority::Challenge), or
    /// [`CommandResult`] if the board has no keys. The host adds a nonce to the request, which the [tag](Self::is_proven) of the response covers.
    Challenge,
    /// Reads the state of an update. The response is an [`UpdateState`](super::UpdateState).
    Update,
    /// Starts an update by erasing the slot. The response is [`CommandResult`]; it comes before the flash is touched. Blocks of the
    /// same image that the board has already are kept. A board with an owner requires the signature.
    BeginUpdate(UpdatePlan, Option<Signature>),
    /// Takes this [`Block`](super::Block) of an image, and broadcasts it to all others. The response is [`CommandResult`].
    SendBlock(&'a [u8]),
    /// Restarts with the image of this SHA-256, which the board has, on trial. The response is [`CommandResult`].
    SwitchImage(&'a [u8; HASH_BYTES]),
    /// Confirms the image. The response is [`CommandResult`].
    KeepImage,
    /// Reads a block of an image that the board has, or gets. The response is that [`Block`](super::Block), or [`CommandResult`].
    ReadBlock {
        /// The image: [`UpdatePlan::id`].
        id: u16,
        /// The block, from 0.
        index: u16,
    },
}

/// A deliberate failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Failure {
    /// It hangs: the watchdog restarts it.
    Hang,
    /// It overflows its stack: the next boot reports that.
    StackOverflow,
}

impl Failure {
    /// All failures, in the order of their numbers on the wire.
    pub const ALL: [Failure; 2] = [Failure::Hang, Failure::StackOverflow];
}

/// The response to a command that has no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommandResult {
    /// The command is executed.
    Done,
    /// The command, or its payload, is unknown.
    Unknown,
    /// The config is invalid, or not for this board.
    BadConfig,
    /// The board has no config, so it is in no mesh.
    NotConfigured,
    /// The node's buffers are full, or another command is not carried out yet: retry.
    Busy,
    /// The config's network family is not in the board's image.
    NotInImage,
    /// The sender is not authorized: it has not proven to hold the management key, or, without keys, it is not at the board's own port.
    NotAllowed,
    /// The image is for another board.
    OtherBoard,
    /// The image is linked for the slot that the board runs from.
    OtherSlot,
    /// The image does not fit.
    TooLarge,
    /// The board's own image is on trial and must be confirmed first, since the other one is the fallback.
    OnTrial,
    /// The board has no boot loader: a probe must flash it once.
    NoLoader,
    /// The board does not have that image, or not completely.
    NotThere,
    /// The board has an owner, and nobody has signed the image.
    NoSignature,
    /// The signature is not of the board's owner, or not of this image.
    BadSignature,
    /// The image is older than the floor that the owner has set.
    Outdated,
}

impl<'a> Command<'a> {
    /// The number of [`WriteConfig`](Self::WriteConfig).
    pub const WRITE_CONFIG: u8 = 2;
    /// The number of [`Challenge`](Self::Challenge).
    pub const CHALLENGE: u8 = 10;
    /// The number of [`ReadBlock`](Self::ReadBlock).
    pub const READ_BLOCK: u8 = 16;

    /// The number in [`Query::Board`].
    pub const fn number(&self) -> u8 {
        match self {
            Command::Status => 0,
            Command::ReadConfig => 1,
            Command::WriteConfig(_) => Self::WRITE_CONFIG,
            Command::Restart => 3,
            Command::Broadcast(_) => 4,
            Command::StartTraffic(_) => 5,
            Command::Traffic => 6,
            Command::LogPackets(_) => 7,
            Command::KeepConfig => 8,
            Command::Fail(_) => 9,
            Command::Challenge => Self::CHALLENGE,
            Command::Update => 11,
            Command::BeginUpdate(..) => 12,
            Command::SwitchImage(_) => 13,
            Command::KeepImage => 14,
            Command::SendBlock(_) => 15,
            Command::ReadBlock { .. } => Self::READ_BLOCK,
        }
    }

    /// Whether a command of this number changes the board. A board with keys requires authorization for it.
    pub const fn changes(number: u8) -> bool {
        !matches!(number, 0 | 1 | 6 | Self::CHALLENGE | 11 | Self::READ_BLOCK)
    }

    /// Whether a board with keys adds a [tag](crate::authority::proven) to the response to a command of this number.
    pub const fn is_proven(number: u8) -> bool {
        Self::changes(number) || number == Self::CHALLENGE
    }

    /// The query of the request.
    pub const fn query(&self) -> Query {
        Query::Board(self.number())
    }

    /// The payload of the request.
    pub fn payload(&self) -> Vec<u8, MAX_PAYLOAD> {
        let mut bytes = Vec::new();
        let fits = match *self {
            Command::Status
            | Command::ReadConfig
            | Command::Restart
            | Command::Traffic
            | Command::KeepConfig
            | Command::Challenge
            | Command::Update
            | Command::KeepImage => Ok(()),
            Command::WriteConfig(config) => bytes.extend_from_slice(config),
            Command::Broadcast(payload) | Command::SendBlock(payload) => bytes.extend_from_slice(payload),
            Command::StartTraffic(traffic) => bytes.extend_from_slice(&traffic.bytes()),
            Command::LogPackets(on) => bytes.extend_from_slice(&[u8::from(on)]),
            Command::Fail(failure) => bytes.extend_from_slice(&[failure as u8]),
            Command::BeginUpdate(plan, signature) => {
                let signature = signature.map(|signature| signature.write());
                let plan = bytes.extend_from_slice(&plan.write());
                plan.and_then(|()| bytes.extend_from_slice(signature.as_ref().map_or(&[][..], |bytes| bytes)))
            }
            Command::SwitchImage(hash) => bytes.extend_from_slice(hash),
            Command::ReadBlock { id, index } => bytes.extend_from_slice(&Block { id, index, bytes: &[] }.write()),
        };
        // A config fits, and so does everything that a node would send.
        let _ = fits;
        bytes
    }

    /// Parses a command; `None` if it is malformed.
    pub fn read(number: u8, payload: &'a [u8]) -> Option<Self> {
        Some(match number {
            0 => Command::Status,
            1 => Command::ReadConfig,
            2 => Command::WriteConfig(payload.try_into().ok()?),
            3 => Command::Restart,
            4 => Command::Broadcast(payload),
            5 => Command::StartTraffic(Traffic::read(payload)?),
            6 => Command::Traffic,
            7 => Command::LogPackets(*payload.first()? != 0),
            8 => Command::KeepConfig,
            9 => Command::Fail(*Failure::ALL.get(usize::from(*payload.first()?))?),
            Self::CHALLENGE => Command::Challenge,
            11 => Command::Update,
            12 => {
                let (plan, signature) = payload.split_first_chunk::<PLAN_BYTES>()?;
                let signature = match signature {
                    [] => None,
                    bytes => Some(Signature::read(bytes)?),
                };
                Command::BeginUpdate(UpdatePlan::read(plan)?, signature)
            }
            13 => Command::SwitchImage(payload.try_into().ok()?),
            14 => Command::KeepImage,
            15 => Command::SendBlock(payload),
            Self::READ_BLOCK => {
                let Block { id, index, .. } = Block::read(payload)?;
                Command::ReadBlock { id, index }
            }
            _ => return None,
        })
    }
}

/// The state of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum BoardState {
    /// Part of a mesh.
    Configured,
    /// The flash has no config.
    NoConfig,
    /// The config is damaged, or of another version.
    BadConfig,
    /// The expression is not a network.
    BadNetwork,
    /// The address is not in the network.
    BadAddress,
    /// The node has more neighbors than the board has links.
    TooFewLinks,
    /// The expression's network family is not in the board's image.
    NotInImage,
    /// It crashed several times in a row soon after boot, and ignores its config until it gets another one or its
    /// power is cut.
    CrashLoop,
    /// It has keys, and cannot count its boots in flash, so it could not reject replays from before the last one.
    Uncounted,
}

/// The full status of a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Whether it is part of a mesh, or why not.
    pub state: BoardState,
    /// The name of the board type.
    pub board: String<16>,
    /// The unique ID of its chip.
    pub unique_id: [u8; 12],
    /// The number of links to neighbors.
    pub links: u8,
    /// The speed of its wires.
    pub baud: u32,
    /// Milliseconds since boot.
    pub uptime_ms: u64,
    /// Name, program, reset cause and free stack, as in the node's report.
    pub card: BoardInfo,
    /// The cause of the last restart, if it was a panic, a fault or a hang; else a hardware fault of the board, such as
    /// a missing clock.
    pub fault: Option<String<72>>,
    /// Whether the config is on trial: see [`Command::WriteConfig`].
    pub on_trial: bool,
}

#[cfg(test)]
mod tests {
    use super::super::traffic::Pattern;
    use super::*;
    use crate::store::Slot;

    #[test]
    fn commands_are_read_as_they_were_written() {
        let traffic = Traffic {
            random: true,
            ..Traffic::new(1_000, 70_000, Pattern::Neighbors, 200)
        };
        let plan = UpdatePlan {
            board: UpdatePlan::board_named("nucleo-f446re"),
            slot: Slot::Second,
            length: 154_464,
            crc: 0x1234_5678,
            hash: [9; HASH_BYTES],
        };
        let commands = [
            Command::Status,
            Command::ReadConfig,
            Command::WriteConfig(&[7; CONFIG_BYTES]),
            Command::Restart,
            Command::Broadcast(b"all"),
            Command::StartTraffic(traffic),
            Command::Traffic,
            Command::LogPackets(true),
            Command::KeepConfig,
            Command::Fail(Failure::Hang),
            Command::Challenge,
            Command::Update,
            Command::BeginUpdate(plan, None),
            Command::SwitchImage(&[9; HASH_BYTES]),
            Command::KeepImage,
            Command::SendBlock(b"block"),
            Command::ReadBlock { id: 7, index: 300 },
        ];
        let changing = [2, 3, 4, 5, 7, 8, 9, 12, 13, 14, 15];
        for (number, command) in (0..).zip(commands) {
            assert_eq!(command.number(), number);
            assert_eq!(Command::changes(number), changing.contains(&number));
            assert_eq!(Command::read(command.number(), &command.payload()), Some(command));
        }
        for failure in Failure::ALL {
            assert_eq!(Command::read(9, &[failure as u8]), Some(Command::Fail(failure)));
        }
        assert_eq!(Command::read(9, &[2]), None);
        assert_eq!(Command::read(16, &[]), None);
        assert_eq!(Command::read(2, &[0; CONFIG_BYTES - 1]), None);
    }
}

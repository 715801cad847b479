//! Events in boards' logs: what defmt prints of an [`Event`], read back.
//!
//! defmt prints structures as Rust does, `LinkDown { link: 2, reason: Silent }`. That is read as a tree of names and fields,
//! and the tree as an event.

use hopwise_core::link::{Down, FrameError, Identity, Role};
use hopwise_core::node::{DropReason, Event, Kind, Outcome, PacketId};

/// A name with fields, `Name { field: value }`, or with parts in parentheses, `Name(value)`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Tree<'a> {
    name: &'a str,
    /// Parts in parentheses have empty names.
    fields: Vec<(&'a str, Tree<'a>)>,
}

/// Nothing that a board prints is deeper.
const DEEPEST: usize = 8;

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn skip(&mut self, mark: char) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Letters, digits and what else is in names and numbers.
    fn word(&mut self) -> Option<&'a str> {
        self.rest = self.rest.trim_start();
        let end = self
            .rest
            .find(|letter: char| !letter.is_alphanumeric() && !"_-".contains(letter));
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    fn tree(&mut self, depth: usize) -> Option<Tree<'a>> {
        if depth > DEEPEST {
            return None;
        }
        let mut tree = Tree {
            name: self.word()?,
            fields: Vec::new(),
        };
        let (named, end) = if self.skip('{') {
            (true, '}')
        } else if self.skip('(') {
            (false, ')')
        } else {
            return Some(tree);
        };
        while !self.skip(end) {
            let name = match named {
                true => self.word().filter(|_| self.skip(':'))?,
                false => "",
            };
            tree.fields.push((name, self.tree(depth + 1)?));
            self.skip(',');
        }
        Some(tree)
    }
}

impl<'a> Tree<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let mut reader = Reader { rest: text };
        let tree = reader.tree(0)?;
        reader.rest.trim().is_empty().then_some(tree)
    }

    fn field(&self, name: &str) -> Option<&Tree<'a>> {
        self.fields.iter().find(|field| field.0 == name).map(|field| &field.1)
    }

    fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.field(name)?.name.parse().ok()
    }

    fn identity(&self, name: &str) -> Option<Identity> {
        let tree = self.field(name)?;
        Some(Identity {
            role: match tree.field("role")?.name {
                "Node" => Role::Node,
                "Host" => Role::Host,
                _ => return None,
            },
            network: tree.number("network")?,
            address: tree.number("address")?,
            port: tree.number("port")?,
            epoch: tree.number("epoch")?,
            largest: tree.number("largest")?,
        })
    }

    fn packet(&self) -> Option<PacketId> {
        let tree = self.field("packet")?;
        Some(PacketId {
            source: tree.number("source")?,
            from_host: tree.number("from_host")?,
            epoch: tree.number("epoch")?,
            kind: match tree.field("kind")?.name {
                "Datagram" => Kind::Datagram,
                "Broadcast" => Kind::Broadcast,
                "Confirmed" => Kind::Confirmed,
                "Confirmation" => Kind::Confirmation,
                "Undeliverable" => Kind::Undeliverable,
                "Request" => Kind::Request,
                "Response" => Kind::Response,
                _ => return None,
            },
            number: tree.number("number")?,
        })
    }

    fn drop_reason(&self) -> Option<DropReason> {
        let name = self.field("reason")?.name;
        DropReason::ALL.into_iter().find(|reason| format!("{reason:?}") == name)
    }

    fn down(&self) -> Option<Down> {
        let tree = self.field("reason")?;
        Some(match tree.name {
            "Silent" => Down::Silent,
            "OneWay" => Down::OneWay,
            "Restarted" => Down::Restarted,
            "Ended" => Down::Ended,
            "Version" => Down::Version(tree.number("")?),
            "Replaced" => Down::Replaced,
            _ => return None,
        })
    }

    /// `None` or `Some(4)`.
    fn option(&self, name: &str) -> Option<Option<u64>> {
        let tree = self.field(name)?;
        match tree.name {
            "None" => Some(None),
            "Some" => tree.number("").map(Some),
            _ => None,
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        let tree = self.field("outcome")?;
        Some(match tree.name {
            "Delivered" => Outcome::Delivered,
            "Undeliverable" => Outcome::Undeliverable {
                at: tree.number("at")?,
                reason: tree.drop_reason()?,
            },
            "Interrupted" => Outcome::Interrupted,
            "Unknown" => Outcome::Unknown,
            _ => return None,
        })
    }

    fn event(&self) -> Option<Event> {
        let link = || self.number("link");
        let dest = || self.number("dest");
        Some(match self.name {
            "LinkUp" => Event::LinkUp {
                link: link()?,
                peer: self.identity("peer")?,
            },
            "LinkDown" => Event::LinkDown {
                link: link()?,
                reason: self.down()?,
            },
            "Miswired" => Event::Miswired {
                link: link()?,
                expected: self.option("expected")?,
                found: self.identity("found")?,
            },
            "Damaged" => Event::Damaged {
                link: link()?,
                error: match self.field("error")?.name {
                    "Encoding" => FrameError::Encoding,
                    "TooLong" => FrameError::TooLong,
                    "Crc" => FrameError::Crc,
                    "Form" => FrameError::Form,
                    _ => return None,
                },
            },
            "Sent" => Event::Sent {
                link: link()?,
                packet: self.packet()?,
                dest: dest()?,
                again: self.number("again")?,
            },
            "Received" => Event::Received {
                link: link()?,
                packet: self.packet()?,
                dest: dest()?,
            },
            "Accepted" => Event::Accepted {
                packet: self.packet()?,
                dest: dest()?,
            },
            "Forwarded" => Event::Forwarded {
                link: link()?,
                packet: self.packet()?,
            },
            "Delivered" => Event::Delivered { packet: self.packet()? },
            "Dropped" => Event::Dropped {
                packet: self.packet()?,
                dest: dest()?,
                reason: self.drop_reason()?,
            },
            "Detoured" => Event::Detoured {
                packet: self.packet()?,
                by: self.number("by")?,
            },
            "Settled" => Event::Settled {
                number: self.number("number")?,
                outcome: self.outcome()?,
            },
            _ => return None,
        })
    }
}

/// The event of a line, if it is one. Rust's own debug format of an event is read just as well.
pub fn read_event(text: &str) -> Option<Event> {
    Tree::read(text)?.event()
}

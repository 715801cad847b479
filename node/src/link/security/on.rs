//! Authentication of the other end of a link, in a mesh that has a key.
//!
//! Each end has a nonce, a new one for every session. A hello that names the other end is sealed with a key derived from the
//! mesh's key and the nonces of both: its sender has the mesh's key, and has heard the nonce that this end uses now. Only such
//! a hello, or another frame under that key, brings a link up. There is one key per direction, and frames are numbered, so reflected and
//! replayed frames are rejected.
//!
//! A hello that names no end is sealed with a key common to the mesh. It may be old, so it is not trusted, only answered, and
//! not even that while the link is up: a neighbor that has restarted is heard once the session with it has timed out.
//!
//! An end never returns to an earlier pair of nonces, or it would have to remember the frame numbers of that pair: so it
//! takes a new nonce first.

use super::Verdict;
use crate::key::{Credentials, Key};
use crate::wire::{Hello, Identity, Nonce, Proof, Seal, Tagged};

#[derive(Clone, Debug)]
pub(in crate::link) struct Security {
    key: Key,
    /// The nonce of this end, until the session ends.
    nonce: Nonce,
    pairing: Option<Pairing>,
}

/// This end's nonce and one of the other end.
#[derive(Clone, Debug)]
struct Pairing {
    theirs: Nonce,
    /// The key of each direction, and the last number in it.
    there: (Key, u64),
    here: (Key, u64),
}

/// Both nonces and the last number in each direction: keys are derived from nonces.
pub(in crate::link) type CanonicalSecurity = (Nonce, Option<(Nonce, u64, u64)>);

impl Security {
    pub(in crate::link) fn canonical(&self) -> CanonicalSecurity {
        let pairing = self.pairing.as_ref();
        let pairing = pairing.map(|pairing| (pairing.theirs, pairing.there.1, pairing.here.1));
        (self.nonce, pairing)
    }

    pub(in crate::link) fn new(credentials: &Credentials, identity: &Identity) -> Self {
        let key = credentials.link_key();
        // An epoch never repeats, and a board says hello on several wires in each.
        let start = [identity.port, u8::from(identity.role == crate::wire::Role::Host)];
        let context: [&[u8]; 4] = [
            &credentials.random,
            &identity.epoch.to_le_bytes(),
            &identity.address.to_le_bytes(),
            &start,
        ];
        Security {
            key,
            nonce: key.derive("first nonce", &context),
            pairing: None,
        }
    }

    /// Starts a new session: with the same other end, if it is still known.
    pub(in crate::link) fn renew(&mut self, is_known: bool) {
        self.nonce = self.key.derive("next nonce", &[&self.nonce]);
        let theirs = self.pairing.take().map(|pairing| pairing.theirs);
        if let Some(theirs) = theirs.filter(|_| is_known) {
            self.pair(&theirs);
        }
    }

    fn pair(&mut self, theirs: &Nonce) {
        self.pairing = Some(self.pairing_with(theirs));
    }

    fn pairing_with(&self, theirs: &Nonce) -> Pairing {
        let key = |from: &Nonce, to: &Nonce| (self.key.derive_key("link", &[from, to]), 0);
        Pairing {
            theirs: *theirs,
            there: key(&self.nonce, theirs),
            here: key(theirs, &self.nonce),
        }
    }

    pub(in crate::link) fn is_paired(&self) -> bool {
        self.pairing.is_some()
    }

    fn announcing(&self) -> Key {
        self.key.derive_key("announce", &[])
    }

    /// Classifies a hello, given with the bytes it was read from. `names_us` and `is_up` are as far as the link knows.
    pub(in crate::link) fn verify(
        &mut self,
        hello: &Hello,
        bytes: &[u8],
        names_us: bool,
        is_known: bool,
        is_up: bool,
    ) -> Verdict {
        let suspect = |verdict| if is_known { Verdict::Worthless } else { verdict };
        let Some((tagged, nonce)) = Tagged::hello(bytes).filter(|_| hello.keyed) else {
            return suspect(Verdict::Unkeyed);
        };
        if *nonce == self.nonce {
            // Our own frame, reflected.
            return Verdict::Worthless;
        }
        if names_us {
            let known = self.pairing.as_ref().filter(|pairing| pairing.theirs == *nonce);
            let mut pairing = known.cloned().unwrap_or_else(|| self.pairing_with(nonce));
            if !pairing.authenticates(&tagged) {
                return Verdict::Worthless;
            }
            self.pairing = Some(pairing);
            return Verdict::Authenticated;
        }
        if is_up || hello.heard != 0 {
            return Verdict::Worthless;
        }
        let key = self.announcing();
        if !tagged.is_under(Seal { key: &key, number: 0 }) {
            return suspect(Verdict::WrongKey);
        }
        match self.pairing.as_ref().map(|pairing| pairing.theirs) {
            Some(theirs) if theirs == *nonce => Verdict::Announced,
            Some(_) => {
                self.renew(false);
                self.pair(nonce);
                Verdict::AnnouncedAnew
            }
            None => {
                self.pair(nonce);
                Verdict::Announced
            }
        }
    }

    /// Whether a frame is authentic: from the other end, of this session, and not replayed.
    pub(in crate::link) fn authenticates(&mut self, tagged: &Tagged<'_>) -> bool {
        self.pairing
            .as_mut()
            .is_some_and(|pairing| pairing.authenticates(tagged))
    }

    /// The seal of the next frame to the other end; `None` if it is not known.
    pub(in crate::link) fn seal(&mut self) -> Option<Seal<'_>> {
        let (key, number) = &mut self.pairing.as_mut()?.there;
        *number = number.saturating_add(1);
        Some(Seal { key, number: *number })
    }

    /// Gives the next hello its proof: for the other end or, if it is not known, for any.
    pub(in crate::link) fn with_proof<T>(&mut self, write: impl FnOnce(Proof<'_>) -> T) -> T {
        let nonce = self.nonce;
        if let Some(seal) = self.seal() {
            return write(Proof { nonce: &nonce, seal });
        }
        let key = self.announcing();
        let seal = Seal { key: &key, number: 0 };
        write(Proof { nonce: &nonce, seal })
    }
}

impl Pairing {
    fn authenticates(&mut self, tagged: &Tagged<'_>) -> bool {
        let (key, last) = &mut self.here;
        let number = tagged.number_after(*last);
        let authenticated = number > *last && tagged.is_under(Seal { key, number });
        if authenticated {
            *last = number;
        }
        authenticated
    }
}

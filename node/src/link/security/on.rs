//! One end of a link in a mesh that has a key: who it believes.
//!
//! Each end has a nonce, another one for every session. A hello that names the other end is sealed with a key that follows from the
//! mesh's key and the nonces of both: whoever can make one has the mesh's key, and has heard the nonce that this end uses now. Only such
//! a hello, or another frame under that key, brings a link up. There is one key for each direction, so nothing is believed that comes
//! back to who sent it, and frames are numbered, so nothing is believed twice.
//!
//! A hello that names nobody is sealed with a key of all who belong to the mesh. It may be old, so it is not believed, only answered, and
//! not even that while the link is up: a neighbor that has restarted is heard once the session with it has died.
//!
//! An end that leaves a pair of nonces never comes back to it, or it would have to remember how far the numbers of that pair had come: so it
//! takes a new nonce of its own first.

use super::Verdict;
use crate::key::{Credentials, Key};
use crate::wire::{Hello, Identity, Nonce, Proof, Seal, Tagged};

#[derive(Clone, Debug)]
pub(in crate::link) struct Security {
    key: Key,
    /// Of this end, until the session ends.
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

/// The nonce of this end, that of the other, and the last number in each direction: keys follow from nonces.
pub(in crate::link) type CanonicalSecurity = (Nonce, Option<(Nonce, u64, u64)>);

impl Security {
    /// Its state, to be compared.
    pub(in crate::link) fn canonical(&self) -> CanonicalSecurity {
        let pairing = self.pairing.as_ref();
        let pairing = pairing.map(|pairing| (pairing.theirs, pairing.there.1, pairing.here.1));
        (self.nonce, pairing)
    }

    pub(in crate::link) fn new(credentials: &Credentials, identity: &Identity) -> Self {
        let key = credentials.link_key();
        // An epoch is never used again, and a board says hello on several wires in each.
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

    /// A new session: with the same other end, if it is still known.
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

    /// Judges a hello, given with the bytes it was read from. `names_us` and `is_up` are as far as the link knows.
    pub(in crate::link) fn judge(
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
            // Our own voice.
            return Verdict::Worthless;
        }
        if names_us {
            let known = self.pairing.as_ref().filter(|pairing| pairing.theirs == *nonce);
            let mut pairing = known.cloned().unwrap_or_else(|| self.pairing_with(nonce));
            if !pairing.believes(&tagged) {
                return Verdict::Worthless;
            }
            self.pairing = Some(pairing);
            return Verdict::Proven;
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

    /// Whether a frame is the other end's, of this session, and has not come before.
    pub(in crate::link) fn believes(&mut self, tagged: &Tagged<'_>) -> bool {
        self.pairing.as_mut().is_some_and(|pairing| pairing.believes(tagged))
    }

    /// The seal of the next frame to the other end; `None` if none is known.
    pub(in crate::link) fn seal(&mut self) -> Option<Seal<'_>> {
        let (key, number) = &mut self.pairing.as_mut()?.there;
        *number = number.saturating_add(1);
        Some(Seal { key, number: *number })
    }

    /// Gives the next hello its proof: to the other end, or, if none is known, to anyone.
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
    fn believes(&mut self, tagged: &Tagged<'_>) -> bool {
        let (key, last) = &mut self.here;
        let number = tagged.number_after(*last);
        let believed = number > *last && tagged.is_under(Seal { key, number });
        if believed {
            *last = number;
        }
        believed
    }
}

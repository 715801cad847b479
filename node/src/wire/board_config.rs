//! The config: everything in which one board differs from another, in [`CONFIG_BYTES`] bytes of flash.
//!
//! | bytes | what, numbers little-endian |
//! |---|---|
//! | 0..4 | the letters `HOPW` |
//! | 4 | version of this table, 1 |
//! | 5 | length of the expression |
//! | 6 | length of the name |
//! | 7 | options: bit 0 logs packets, bit 1 routes by the paper's rule, bit 2 takes a host at any link, bit 3 has links
//! change their rates; the others are 0 |
//! | 8..16 | address |
//! | 16..19 | baud rate, the slowest of the mesh |
//! | 19 | number of links that have rates of their own |
//! | 20..24 | traffic: packets a second, 0 for none |
//! | 24..28 | traffic: packets in all, 0 for no end |
//! | 28 | traffic: [pattern](super::Pattern); the highest bit is set if payloads are random |
//! | 29 | traffic: bytes of a packet |
//! | 30..32 | baud rate of the port to the host in hundreds, or 0: that of the links up to 2,000,000, otherwise 1,000,000 |
//! | 32..48 | name, the rest 0 |
//! | 48..188 | network expression, and at the end the rates of links 0, 1 ... in three bytes each, 0 for those without their own; the rest 0 |
//! | 188..192 | CRC-32C of all before |

use heapless::{LenType, String, Vec};

use super::rates::{BAUD_RATES, DEFAULT_BAUD, default_host_baud};
use super::traffic::Traffic;
use hopwise_codec::crc32c;
use hopwise_core::network::expression::ParseError;
use hopwise_core::{Network, Node};

/// The size of a config, a multiple of the program unit of any supported flash.
pub const CONFIG_BYTES: usize = 192;

/// Maximum length of the expression in a config.
pub const MAX_EXPRESSION: usize = EXPRESSION_END - EXPRESSION;

const MAGIC: [u8; 4] = *b"HOPW";
const VERSION: u8 = 1;
const NAME: usize = 32;
const EXPRESSION: usize = 48;
const EXPRESSION_END: usize = CONFIG_BYTES - 4;
/// Bytes of the rate of a link.
const RATE: usize = 3;
/// The host's rate is kept in this unit.
const HOST_UNIT: u32 = 100;
/// Maximum number of links whose rates a config can set.
pub const MAX_LINK_RATES: usize = 7;

/// The option that logs every packet.
pub const fn packet_logging(options: u8) -> bool {
    options & 1 != 0
}

/// The option that uses the paper's routing function.
pub const fn paper_rule(options: u8) -> bool {
    options & 2 != 0
}

/// The option that accepts a host at any link, not only at the board's serial port.
pub const fn hosts_anywhere(options: u8) -> bool {
    options & 4 != 0
}

/// The option that has the ends of links without rates of their own change them together.
pub const fn automatic_rates(options: u8) -> bool {
    options & AUTOMATIC_RATES != 0
}

/// The bit of [`automatic_rates`].
pub const AUTOMATIC_RATES: u8 = 8;

/// A board's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardConfig {
    /// The network's expression.
    pub expression: String<MAX_EXPRESSION>,
    /// The board's address in it.
    pub address: Node,
    /// The speed of the wires; the slowest, if links have rates of their own.
    pub baud: u32,
    /// The speed of the serial port to the host, a multiple of 100.
    pub host_baud: u32,
    /// The rates of links 0, 1 ..., if they differ; 0 for those that have `baud`.
    pub link_rates: Vec<u32, MAX_LINK_RATES>,
    /// The human-readable name of the board.
    pub name: String<16, u8>,
    /// Bits, see [`packet_logging`], [`paper_rule`], [`hosts_anywhere`] and [`automatic_rates`].
    pub options: u8,
    /// The traffic to start with.
    pub traffic: Option<Traffic>,
}

/// The reason why bytes are not a config.
#[expect(missing_docs, reason = "the sentences say what they are")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadConfig {
    #[error("there is no config")]
    Missing,
    /// The CRC does not match.
    #[error("the config is damaged")]
    Damaged,
    #[error("the config is of version {0}, not {VERSION}")]
    Version(u8),
    #[error("a field of the config holds what it cannot")]
    Field,
    #[error("boards run at {least} to {most} baud, not at {0}", least = BAUD_RATES.start(), most = BAUD_RATES.end())]
    Baud(u32),
    #[error("the network of the config: {0}")]
    Expression(ParseError),
}

impl BoardConfig {
    /// A config with only the network and the address.
    pub fn new(expression: &str, address: Node) -> Result<Self, BadConfig> {
        Ok(BoardConfig {
            expression: String::try_from(expression).map_err(|_| BadConfig::Field)?,
            address,
            baud: DEFAULT_BAUD,
            host_baud: DEFAULT_BAUD,
            link_rates: Vec::new(),
            name: String::new(),
            options: 0,
            traffic: None,
        })
    }

    /// The rate of a link.
    pub fn rate(&self, link: u8) -> u32 {
        self.own_rate(link).unwrap_or(self.baud)
    }

    fn own_rate(&self, link: u8) -> Option<u32> {
        self.link_rates.get(usize::from(link)).copied().filter(|rate| *rate > 0)
    }

    /// Whether the rate of a link is only the first.
    pub fn may_change_rate(&self, link: u8) -> bool {
        automatic_rates(self.options) && self.own_rate(link).is_none()
    }

    /// Parses the network.
    pub fn network(&self) -> Result<Network, BadConfig> {
        self.expression.parse().map_err(BadConfig::Expression)
    }

    /// The layout in flash.
    pub fn write(&self) -> [u8; CONFIG_BYTES] {
        let traffic = self.traffic.unwrap_or(Traffic::NONE);
        let mut config = [0; CONFIG_BYTES];
        let mut put = |at: usize, bytes: &[u8]| {
            for (place, byte) in config.iter_mut().skip(at).zip(bytes) {
                *place = *byte;
            }
        };
        put(0, &MAGIC);
        put(
            4,
            &[
                VERSION,
                self.expression.len() as u8,
                self.name.len() as u8,
                self.options,
            ],
        );
        put(8, &self.address.to_le_bytes());
        put(16, &self.baud.to_le_bytes());
        put(19, &[self.link_rates.len() as u8]);
        put(20, &traffic.bytes());
        if self.host_baud != default_host_baud(self.baud) {
            put(30, &((self.host_baud / HOST_UNIT) as u16).to_le_bytes());
        }
        put(NAME, self.name.as_bytes());
        put(EXPRESSION, self.expression.as_bytes());
        let rates = EXPRESSION_END - RATE * self.link_rates.len();
        for (link, rate) in self.link_rates.iter().enumerate() {
            put(rates + RATE * link, rate.to_le_bytes().get(..RATE).unwrap_or(&[]));
        }
        let crc = checksum(&config);
        if let Some(end) = config.last_chunk_mut() {
            *end = crc.to_le_bytes();
        }
        config
    }

    /// A config as it is relayed: without the zeros before its CRC.
    pub fn shorten(config: &[u8; CONFIG_BYTES]) -> Vec<u8, CONFIG_BYTES> {
        let (fields, crc) = config.split_at(EXPRESSION_END);
        let end = fields.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        // Cannot fail: it is shorter than the config.
        let mut bytes = Vec::from_slice(fields.get(..end).unwrap_or(&[])).unwrap_or_default();
        let _ = bytes.extend_from_slice(crc);
        bytes
    }

    /// The config that was [shortened](Self::shorten) to these bytes; `None` if they are too few or too many.
    pub fn lengthen(bytes: &[u8]) -> Option<[u8; CONFIG_BYTES]> {
        let (fields, crc) = bytes.split_last_chunk::<4>()?;
        let mut config = [0; CONFIG_BYTES];
        config
            .get_mut(..EXPRESSION_END)?
            .get_mut(..fields.len())?
            .copy_from_slice(fields);
        *config.last_chunk_mut()? = *crc;
        Some(config)
    }

    /// Parses a config. Its network is parsed by [`network`](Self::network).
    pub fn read(config: &[u8; CONFIG_BYTES]) -> Result<Self, BadConfig> {
        let &[m0, m1, m2, m3, version, expression, name, options, ref rest @ ..] = config;
        if [m0, m1, m2, m3] != MAGIC {
            return Err(BadConfig::Missing);
        }
        if config.last_chunk() != Some(&checksum(config).to_le_bytes()) {
            return Err(BadConfig::Damaged);
        }
        if version != VERSION {
            return Err(BadConfig::Version(version));
        }
        let (address, rest) = rest.split_first_chunk().ok_or(BadConfig::Field)?;
        let (&[baud0, baud1, baud2, link_rates], rest) = rest.split_first_chunk().ok_or(BadConfig::Field)?;
        let (traffic, rest) = rest.split_first_chunk().ok_or(BadConfig::Field)?;
        let &[host0, host1, ..] = rest else {
            return Err(BadConfig::Field);
        };
        let baud = checked_baud(u32::from_le_bytes([baud0, baud1, baud2, 0]))?;
        let host_baud = match u32::from(u16::from_le_bytes([host0, host1])) {
            0 => default_host_baud(baud),
            hundreds => checked_baud(hundreds * HOST_UNIT)?,
        };
        let traffic = Traffic::read_unchecked(traffic).ok_or(BadConfig::Field)?;
        Ok(BoardConfig {
            expression: text(config, EXPRESSION, expression)?,
            address: u64::from_le_bytes(*address),
            baud,
            host_baud,
            link_rates: read_rates(config, expression, link_rates)?,
            name: text(config, NAME, name)?,
            options,
            traffic: if traffic.rate == 0 {
                None
            } else {
                Some(traffic.checked().map_err(|_| BadConfig::Field)?)
            },
        })
    }
}

fn checksum(config: &[u8; CONFIG_BYTES]) -> u32 {
    crc32c([config.get(..EXPRESSION_END).unwrap_or(&[])])
}

fn checked_baud(baud: u32) -> Result<u32, BadConfig> {
    if BAUD_RATES.contains(&baud) {
        Ok(baud)
    } else {
        Err(BadConfig::Baud(baud))
    }
}

/// The rates of so many links, which are behind an expression of this length.
fn read_rates(config: &[u8], expression: u8, links: u8) -> Result<Vec<u32, MAX_LINK_RATES>, BadConfig> {
    let begin = EXPRESSION_END.saturating_sub(RATE * usize::from(links));
    if links > 0 && begin < EXPRESSION + usize::from(expression) {
        return Err(BadConfig::Field);
    }
    let (rates, _) = config.get(begin..EXPRESSION_END).unwrap_or(&[]).as_chunks();
    let mut read = Vec::new();
    for &[rate0, rate1, rate2] in rates {
        let rate = match u32::from_le_bytes([rate0, rate1, rate2, 0]) {
            0 => 0,
            rate => checked_baud(rate)?,
        };
        read.push(rate).map_err(|_| BadConfig::Field)?;
    }
    Ok(read)
}

/// A text of this many bytes; one longer than its field is rejected.
fn text<const N: usize, L: LenType>(config: &[u8], at: usize, length: u8) -> Result<String<N, L>, BadConfig> {
    let bytes = config.get(at..at + usize::from(length)).ok_or(BadConfig::Field)?;
    let text = core::str::from_utf8(bytes).map_err(|_| BadConfig::Field)?;
    String::try_from(text).map_err(|_| BadConfig::Field)
}

#[cfg(test)]
mod tests {
    use super::super::traffic::Pattern;
    use super::*;
    use proptest::prelude::*;

    fn config() -> BoardConfig {
        BoardConfig {
            baud: 3_000_000,
            host_baud: 115_200,
            link_rates: Vec::from_slice(&[3_000_000, 11_250_000]).unwrap(),
            name: String::try_from("north").unwrap(),
            options: 3,
            traffic: Some(Traffic {
                random: true,
                ..Traffic::new(100, 5_000, Pattern::Uniform, 64)
            }),
            ..BoardConfig::new("rdn(ring(3),1)", 17).unwrap()
        }
    }

    #[test]
    fn each_option_is_a_bit_of_its_own() {
        for options in 0..=u8::MAX {
            let on = [packet_logging, paper_rule, hosts_anywhere, automatic_rates].map(|option| option(options));
            assert_eq!(on, [1, 2, 4, 8].map(|bit| options / bit % 2 == 1), "{options}");
        }
    }

    #[test]
    fn a_config_is_read_as_it_was_written() {
        let bytes = config().write();
        assert_eq!(BoardConfig::read(&bytes), Ok(config()));
        assert_eq!(config().network().unwrap().nodes(), 18);
        assert_eq!(&bytes[..8], b"HOPW\x01\x0e\x05\x03");
        assert_eq!(&bytes[48..62], b"rdn(ring(3),1)");
    }

    /// What is read of a config without more than a network after a change.
    fn read_changed(change: impl FnOnce(&mut [u8; CONFIG_BYTES])) -> Result<BoardConfig, BadConfig> {
        let mut bytes = BoardConfig::new("ring(3)", 1).unwrap().write();
        change(&mut bytes);
        let crc = checksum(&bytes).to_le_bytes();
        bytes[EXPRESSION_END..].copy_from_slice(&crc);
        BoardConfig::read(&bytes)
    }

    /// What a config from before there were rates of hosts and links says.
    #[test]
    fn the_rate_of_a_mesh_is_that_of_its_hosts_up_to_what_an_st_link_does() {
        for (baud, host_baud) in [(115_200, 115_200), (2_000_000, 2_000_000), (2_250_000, 1_000_000)] {
            let config = read_changed(|bytes| bytes[16..20].copy_from_slice(&u32::to_le_bytes(baud))).unwrap();
            assert_eq!((config.baud, config.host_baud, config.rate(3)), (baud, host_baud, baud));
        }
    }

    #[test]
    fn rates_of_links_that_reach_into_the_expression_are_refused() {
        for (links, length, fits) in [
            (7, 119, true),
            (7, 120, false),
            (0, 140, true),
            (8, 7, false),
            (255, 7, false),
        ] {
            let rates = 5_625_000_u32.to_le_bytes()[..RATE].repeat(usize::from(links).min(8));
            let config = read_changed(|bytes| {
                (bytes[5], bytes[19]) = (length, links);
                bytes[EXPRESSION_END - rates.len()..EXPRESSION_END].copy_from_slice(&rates);
            });
            assert_eq!(config.is_ok(), fits, "{links}, {length}");
        }
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        for bit in 0..CONFIG_BYTES * 8 {
            let mut bytes = config().write();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(BoardConfig::read(&bytes).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn erased_flash_is_no_config() {
        assert_eq!(BoardConfig::read(&[0xff; CONFIG_BYTES]), Err(BadConfig::Missing));
        assert_eq!(BoardConfig::read(&[0; CONFIG_BYTES]), Err(BadConfig::Missing));
    }

    #[test]
    fn a_shortened_config_is_the_same_one() {
        for config in [
            config().write(),
            BoardConfig::new("ring(3)", 1).unwrap().write(),
            [0; CONFIG_BYTES],
            [0xff; CONFIG_BYTES],
        ] {
            let short = BoardConfig::shorten(&config);
            assert_eq!(BoardConfig::lengthen(&short), Some(config));
            assert!(short.len() <= CONFIG_BYTES);
        }
        let plain = BoardConfig::new("ring(3)", 1).unwrap().write();
        assert_eq!(BoardConfig::shorten(&plain).len(), EXPRESSION + "ring(3)".len() + 4);
        assert_eq!(BoardConfig::lengthen(&[1; 3]), None);
        assert_eq!(BoardConfig::lengthen(&[1; CONFIG_BYTES + 1]), None);
    }

    #[test]
    fn a_text_longer_than_its_field_is_refused() {
        for (place, longest) in [(5, MAX_EXPRESSION), (6, EXPRESSION - NAME)] {
            for (length, fits) in [(longest, true), (longest + 1, false)] {
                let config = read_changed(|bytes| bytes[place] = length as u8);
                assert_eq!(config.is_ok(), fits, "{length} at {place}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_with_a_good_checksum_are_harmless(mut bytes in prop::array::uniform32(any::<u8>()), text in ".{0,60}") {
            let mut config = [0; CONFIG_BYTES];
            bytes[..5].copy_from_slice(b"HOPW\x01");
            config[..32].copy_from_slice(&bytes);
            let text = text.as_bytes();
            let length = text.len().min(MAX_EXPRESSION);
            config[48..48 + length].copy_from_slice(&text[..length]);
            let crc = checksum(&config).to_le_bytes();
            config[188..].copy_from_slice(&crc);
            if let Ok(read) = BoardConfig::read(&config) {
                let _ = read.network();
                prop_assert_eq!(BoardConfig::read(&read.write()), Ok(read));
            }
        }
    }
}

//! The config: everything in which one board differs from another, in [`CONFIG_BYTES`] bytes of flash.
//!
//! | bytes | what, numbers little-endian |
//! |---|---|
//! | 0..4 | the letters `HOPW` |
//! | 4 | version of this table, 1 |
//! | 5 | length of the expression |
//! | 6 | length of the name |
//! | 7 | options: bit 0 logs packets, bit 1 routes by the paper's rule, bit 2 takes a host at any link; the others are 0 |
//! | 8..16 | address |
//! | 16..20 | baud rate |
//! | 20..24 | traffic: packets a second, 0 for none |
//! | 24..28 | traffic: packets in all, 0 for no end |
//! | 28 | traffic: [pattern](Pattern) |
//! | 29 | traffic: bytes of a packet |
//! | 30..32 | 0 |
//! | 32..48 | name, the rest 0 |
//! | 48..188 | network expression, the rest 0 |
//! | 188..192 | CRC-32C of all before |

use core::fmt;

use heapless::{LenType, String};

use super::crc::CRC;
use super::traffic::{BadTraffic, Pattern, Traffic};
use hopwise_core::network::expression::ParseError;
use hopwise_core::{Network, Node};

/// The size of a config, a multiple of the program unit of any supported flash.
pub const CONFIG_BYTES: usize = 192;

/// Maximum length of the expression in a config.
pub const MAX_EXPRESSION: usize = EXPRESSION_END - EXPRESSION;

/// The default baud rate.
pub const DEFAULT_BAUD: u32 = 1_000_000;

const MAGIC: [u8; 4] = *b"HOPW";
const VERSION: u8 = 1;
const NAME: usize = 32;
const EXPRESSION: usize = 48;
const EXPRESSION_END: usize = CONFIG_BYTES - 4;
/// Baud rates supported by every serial port of every board.
pub const BAUD_RATES: core::ops::RangeInclusive<u32> = 38_400..=2_000_000;

/// Maximum difference of the rates of one board's serial ports, in thousandths: receivers tolerate it in addition to the errors of two
/// crystals.
const MAX_DIFFERENCE: u32 = 15;

/// Whether the serial ports of a board agree on a baud rate: each divides its bus clock, in Hz, by an integer.
pub fn rates_agree(clocks: &[u32], baud: u32) -> bool {
    let rate_of = |clock: u32| {
        let divisor = clock.saturating_add(baud / 2).checked_div(baud)?;
        clock.checked_div(divisor)
    };
    let (mut slowest, mut fastest) = (baud, baud);
    for clock in clocks {
        let Some(rate) = rate_of(*clock) else { return false };
        (slowest, fastest) = (slowest.min(rate), fastest.max(rate));
    }
    fastest.abs_diff(slowest) <= (baud / 1000).saturating_mul(MAX_DIFFERENCE)
}

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

/// A board's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardConfig {
    /// The network's expression.
    pub expression: String<MAX_EXPRESSION>,
    /// The board's address in it.
    pub address: Node,
    /// The speed of the wires.
    pub baud: u32,
    /// The human-readable name of the board.
    pub name: String<16, u8>,
    /// Bits, see [`packet_logging`], [`paper_rule`] and [`hosts_anywhere`].
    pub options: u8,
    /// The traffic to start with.
    pub traffic: Option<Traffic>,
}

/// The reason why bytes are not a config.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadConfig {
    /// The flash is blank.
    Missing,
    /// The CRC does not match.
    Damaged,
    /// The version is not supported.
    Version(u8),
    /// A field has an invalid value.
    Field,
    /// The baud rate is not supported.
    Baud(u32),
    /// The expression is not a network.
    Expression(ParseError),
}

impl fmt::Display for BadConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadConfig::Missing => f.write_str("there is no config"),
            BadConfig::Damaged => f.write_str("the config is damaged"),
            BadConfig::Version(version) => write!(f, "the config is of version {version}, not {VERSION}"),
            BadConfig::Field => f.write_str("a field of the config holds what it cannot"),
            BadConfig::Baud(baud) => {
                let (least, most) = (BAUD_RATES.start(), BAUD_RATES.end());
                write!(f, "boards run at {least} to {most} baud, not at {baud}")
            }
            BadConfig::Expression(error) => write!(f, "the network of the config: {error}"),
        }
    }
}

impl core::error::Error for BadConfig {}

impl From<BadTraffic> for BadConfig {
    fn from(_: BadTraffic) -> Self {
        BadConfig::Field
    }
}

impl BoardConfig {
    /// A config with only the network and the address.
    pub fn new(expression: &str, address: Node) -> Result<Self, BadConfig> {
        Ok(BoardConfig {
            expression: String::try_from(expression).map_err(|_| BadConfig::Field)?,
            address,
            baud: DEFAULT_BAUD,
            name: String::new(),
            options: 0,
            traffic: None,
        })
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
        put(20, &traffic.rate.to_le_bytes());
        put(24, &traffic.count.to_le_bytes());
        put(28, &[traffic.pattern as u8, traffic.size]);
        put(NAME, self.name.as_bytes());
        put(EXPRESSION, self.expression.as_bytes());
        let crc = checksum(&config);
        if let Some(end) = config.last_chunk_mut() {
            *end = crc.to_le_bytes();
        }
        config
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
        let (baud, rest) = rest.split_first_chunk().ok_or(BadConfig::Field)?;
        let (rate, rest) = rest.split_first_chunk().ok_or(BadConfig::Field)?;
        let (count, rest) = rest.split_first_chunk().ok_or(BadConfig::Field)?;
        let &[pattern, size, ..] = rest else {
            return Err(BadConfig::Field);
        };
        let baud = u32::from_le_bytes(*baud);
        if !BAUD_RATES.contains(&baud) {
            return Err(BadConfig::Baud(baud));
        }
        let traffic = Traffic {
            rate: u32::from_le_bytes(*rate),
            count: u32::from_le_bytes(*count),
            pattern: Pattern::from_number(pattern).ok_or(BadConfig::Field)?,
            size,
        };
        Ok(BoardConfig {
            expression: text(config, EXPRESSION, expression)?,
            address: u64::from_le_bytes(*address),
            baud,
            name: text(config, NAME, name)?,
            options,
            traffic: if traffic.rate == 0 {
                None
            } else {
                Some(traffic.checked()?)
            },
        })
    }
}

fn checksum(config: &[u8; CONFIG_BYTES]) -> u32 {
    CRC.checksum(config.get(..EXPRESSION_END).unwrap_or(&[]))
}

/// A text of this many bytes; one longer than its field is rejected.
fn text<const N: usize, L: LenType>(config: &[u8], at: usize, length: u8) -> Result<String<N, L>, BadConfig> {
    let bytes = config.get(at..at + usize::from(length)).ok_or(BadConfig::Field)?;
    let text = core::str::from_utf8(bytes).map_err(|_| BadConfig::Field)?;
    String::try_from(text).map_err(|_| BadConfig::Field)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn config() -> BoardConfig {
        BoardConfig {
            name: String::try_from("north").unwrap(),
            options: 3,
            traffic: Some(Traffic {
                rate: 100,
                count: 5_000,
                pattern: Pattern::Uniform,
                size: 64,
            }),
            ..BoardConfig::new("rdn(ring(3),1)", 17).unwrap()
        }
    }

    #[test]
    fn ports_agree_on_rates_that_their_clocks_divide_to() {
        let f446 = [90_000_000, 45_000_000];
        for baud in [38_400, 115_200, 1_000_000, 1_500_000, 1_800_000] {
            assert!(rates_agree(&f446, baud), "{baud}");
        }
        for baud in [1_900_000, 2_000_000, 0, u32::MAX] {
            assert!(!rates_agree(&f446, baud), "{baud}");
        }
        assert!(rates_agree(&[84_000_000, 42_000_000], 2_000_000));
    }

    #[test]
    fn each_option_is_a_bit_of_its_own() {
        for options in 0..=u8::MAX {
            let on = [packet_logging, paper_rule, hosts_anywhere].map(|option| option(options));
            assert_eq!(on, [1, 2, 4].map(|bit| options / bit % 2 == 1), "{options}");
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
    fn a_text_longer_than_its_field_is_refused() {
        for (place, longest) in [(5, MAX_EXPRESSION), (6, EXPRESSION - NAME)] {
            for (length, fits) in [(longest, true), (longest + 1, false)] {
                let mut bytes = BoardConfig::new("ring(3)", 1).unwrap().write();
                bytes[place] = length as u8;
                let crc = checksum(&bytes).to_le_bytes();
                bytes[EXPRESSION_END..].copy_from_slice(&crc);
                assert_eq!(BoardConfig::read(&bytes).is_ok(), fits, "{length} at {place}");
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

//! The peripherals of a chip at run time: by address, by date, by interrupt.

use super::i2c::Port;
use super::map::{Kind, MapEntry, UARTS, port_named};
use super::peripheral::Peripheral;
use super::{exti, gpio, rtc};
use crate::cpu::{Cycles, NEVER};

/// In the bits of what software has touched: the interrupts of DMA, EXTI, flash and RCC are to be looked at.
pub(super) const LINES: u64 = 1 << 63;
/// Units that can have a date: their bits are below that one.
const MAX_TIMED: usize = 63;

/// How many entries are remembered: most accesses are to a few.
const RECENT: usize = 32;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Rcc,
    Pwr,
    Flash,
    Gpio(usize),
    Exti,
    Syscfg,
    Uart(usize),
    I2c(usize),
    Dma(usize),
    Iwdg,
    Rtc,
    Dbgmcu,
    Other(usize),
    Unmodeled,
}

/// Why a peripheral cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the sentences say what they are")]
pub enum CannotAdd {
    #[error("the addresses belong to {by}")]
    Taken { by: &'static str },
    #[error("a chip has at most {MAX_TIMED} peripherals with a time of their own")]
    TooMany,
}

pub(super) struct Slot {
    pub(super) entry: MapEntry,
    pub(super) unit: Unit,
    /// What is to be looked at when software has touched it.
    pub(super) touches: u64,
}

/// Interrupts of a unit, and a bit for each that has come or gone.
pub(super) struct Changed {
    pub(super) interrupts: &'static [usize],
    pub(super) bits: u32,
}

struct Requester {
    unit: Unit,
    interrupts: &'static [usize],
    /// What it requested when it was last looked at.
    requested: u32,
}

impl Requester {
    fn new(unit: Unit, entry: &MapEntry) -> Self {
        Requester {
            unit,
            interrupts: entry.interrupts,
            requested: 0,
        }
    }

    fn requests(&self, interrupt: usize) -> bool {
        let mut own = self.interrupts.iter().enumerate();
        self.requested != 0 && own.any(|(place, number)| *number == interrupt && self.requested >> place & 1 != 0)
    }

    /// Its interrupts and which of them have changed, if any has.
    fn set(&mut self, requested: u32) -> Option<Changed> {
        let bits = std::mem::replace(&mut self.requested, requested) ^ requested;
        (bits != 0).then_some(Changed {
            interrupts: self.interrupts,
            bits,
        })
    }
}

#[derive(Default)]
pub(super) struct Slots {
    /// First addresses, in order.
    bases: Vec<u32>,
    /// In the same order.
    slots: Vec<Slot>,
    /// Where addresses were found last.
    recent: [usize; RECENT],
    /// Units that do something by themselves.
    timed: Vec<Requester>,
    /// When each of them does next.
    dates: Vec<Cycles>,
    /// The bits of those that do something at all: few of many.
    dated: u64,
    /// Units that are moved by others.
    lines: Vec<Requester>,
    /// The bits of the serial ports.
    uarts: [u64; UARTS],
}

impl Slots {
    /// The map of a chip, and the peripherals of their own that its entries make.
    pub(super) fn new(map: &[MapEntry]) -> (Self, Vec<Box<dyn Peripheral>>) {
        let (mut slots, mut others, mut ports) = (Slots::default(), Vec::new(), 0);
        for entry in map {
            let unit = match entry.kind {
                Kind::Rcc => Unit::Rcc,
                Kind::Pwr => Unit::Pwr,
                Kind::Flash => Unit::Flash,
                Kind::Gpio(port) if port < gpio::PORTS => Unit::Gpio(port),
                Kind::Exti(_) => Unit::Exti,
                Kind::Syscfg => Unit::Syscfg,
                Kind::Uart(uart) if uart < UARTS => Unit::Uart(uart),
                Kind::Dma(part) => Unit::Dma(part),
                Kind::Iwdg => Unit::Iwdg,
                Kind::Rtc(_) => Unit::Rtc,
                Kind::I2c(..) => {
                    ports += 1;
                    Unit::I2c(ports - 1)
                }
                Kind::Dbgmcu => Unit::Dbgmcu,
                Kind::Own(make) | Kind::Timer(make) => {
                    others.push(make());
                    Unit::Other(others.len() - 1)
                }
                Kind::Unmodeled | Kind::Gpio(_) | Kind::Uart(_) => Unit::Unmodeled,
            };
            slots.insert(slots.slots.len(), *entry, unit);
        }
        (slots, others)
    }

    fn insert(&mut self, at: usize, entry: MapEntry, unit: Unit) {
        let bit = 1 << self.timed.len();
        let touches = match unit {
            Unit::Uart(uart) => {
                self.uarts[uart] = bit;
                bit
            }
            Unit::Other(_) | Unit::I2c(_) | Unit::Iwdg | Unit::Flash | Unit::Rtc => bit,
            Unit::Dma(_) | Unit::Exti | Unit::Gpio(_) | Unit::Syscfg | Unit::Rcc => LINES,
            Unit::Pwr | Unit::Dbgmcu | Unit::Unmodeled => 0,
        };
        match unit {
            Unit::Uart(_) | Unit::I2c(_) | Unit::Other(_) | Unit::Iwdg | Unit::Flash | Unit::Rtc => {
                self.timed.push(Requester::new(unit, &entry));
                self.dates.push(NEVER);
            }
            Unit::Dma(_) | Unit::Exti | Unit::Rcc => self.lines.push(Requester::new(unit, &entry)),
            _ => {}
        }
        self.bases.insert(at, entry.base);
        self.slots.insert(at, Slot { entry, unit, touches });
    }

    /// Makes room for a peripheral that will be the other of a number.
    pub(super) fn add(&mut self, entry: MapEntry, other: usize) -> Result<(), CannotAdd> {
        if self.timed.len() >= MAX_TIMED {
            return Err(CannotAdd::TooMany);
        }
        let end = u64::from(entry.base) + u64::from(entry.size);
        let overlaps = |slot: &&Slot| {
            let slot = &slot.entry;
            u64::from(slot.base) < end && u64::from(slot.base) + u64::from(slot.size) > u64::from(entry.base)
        };
        let taken = self.slots.iter().filter(overlaps);
        if let Some(slot) = taken.clone().find(|slot| slot.unit != Unit::Unmodeled) {
            return Err(CannotAdd::Taken { by: slot.entry.name });
        }
        let replaced: Vec<u32> = taken.map(|slot| slot.entry.base).collect();
        self.slots.retain(|slot| !replaced.contains(&slot.entry.base));
        self.bases.retain(|base| !replaced.contains(base));
        let at = self.bases.partition_point(|base| *base <= entry.base);
        self.insert(at, entry, Unit::Other(other));
        Ok(())
    }

    /// The number of the place that an address belongs to.
    pub(super) fn find(&mut self, address: u32) -> Option<usize> {
        let kibibyte = (address >> 10) as usize % RECENT;
        if self.has(self.recent[kibibyte], address) {
            return Some(self.recent[kibibyte]);
        }
        let at = self.bases.partition_point(|base| *base <= address).checked_sub(1)?;
        self.recent[kibibyte] = at;
        self.has(at, address).then_some(at)
    }

    fn has(&self, at: usize, address: u32) -> bool {
        let entry = self.slots.get(at).map(|slot| &slot.entry);
        entry.is_some_and(|entry| address.wrapping_sub(entry.base) < entry.size)
    }

    fn kinds(&self) -> impl Iterator<Item = Kind> {
        self.slots.iter().map(|slot| slot.entry.kind)
    }

    pub(super) fn rtc(&self) -> rtc::Layout {
        let found = self.kinds().find_map(|kind| match kind {
            Kind::Rtc(layout) => Some(layout),
            _ => None,
        });
        found.unwrap_or_default()
    }

    pub(super) fn exti(&self) -> exti::Layout {
        let found = self.kinds().find_map(|kind| match kind {
            Kind::Exti(layout) => Some(layout),
            _ => None,
        });
        found.unwrap_or_default()
    }

    /// The I2C ports, in the order of their addresses.
    pub(super) fn i2c(&self) -> Vec<Box<dyn Port>> {
        let ports = self.slots.iter().filter_map(|slot| slot.entry.i2c());
        ports.map(|(registers, _)| registers.port()).collect()
    }

    /// Those of the others that are ports, with their numbers and their bits.
    pub(super) fn ports(&self) -> Vec<(usize, usize, u64)> {
        let port = |slot: &Slot| match slot.unit {
            Unit::Other(other) => Some((other, port_named(slot.entry.name)?, slot.touches)),
            _ => None,
        };
        self.slots.iter().filter_map(port).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn at(&self, at: usize) -> &Slot {
        &self.slots[at]
    }

    pub(super) fn units(&self) -> Vec<Unit> {
        self.slots.iter().map(|slot| slot.unit).collect()
    }

    pub(super) fn bit_of_uart(&self, uart: usize) -> u64 {
        self.uarts[uart]
    }

    pub(super) fn all_timed(&self) -> u64 {
        (1 << self.timed.len()) - 1
    }

    pub(super) fn due(&self, now: Cycles) -> u64 {
        let dated = self.dated();
        dated.fold(0, |due, (timed, date)| due | u64::from(now >= date) << timed)
    }

    fn dated(&self) -> impl Iterator<Item = (usize, Cycles)> {
        let mut rest = self.dated;
        std::iter::from_fn(move || {
            let timed = rest.trailing_zeros() as usize;
            let date = self.dates.get(timed)?;
            rest &= rest - 1;
            Some((timed, *date))
        })
    }

    pub(super) fn next(&self) -> Cycles {
        self.dated().map(|(_, date)| date).min().unwrap_or(NEVER)
    }

    fn date(&mut self, timed: usize, due: Cycles) {
        let Some(date) = self.dates.get_mut(timed) else { return };
        *date = due;
        let bit = 1 << timed;
        self.dated = if due == NEVER {
            self.dated & !bit
        } else {
            self.dated | bit
        };
    }

    pub(super) fn timed(&self, timed: usize) -> Unit {
        self.timed[timed].unit
    }

    pub(super) fn dates(&self) -> &[Cycles] {
        &self.dates
    }

    /// When a timed unit is due, and what it requests. Returns its interrupts if that has changed.
    pub(super) fn set_date(&mut self, timed: usize, due: Cycles, requested: u32) -> Option<Changed> {
        self.date(timed, due);
        self.timed[timed].set(requested)
    }

    pub(super) fn date_uart(&mut self, uart: usize, due: Cycles) {
        let timed = self.uarts[uart].trailing_zeros() as usize;
        self.date(timed, due);
    }

    pub(super) fn line_units(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn line_unit(&self, number: usize) -> Unit {
        self.lines[number].unit
    }

    /// What one of the other units requests. Returns its interrupts if that has changed.
    pub(super) fn set_requested(&mut self, number: usize, requested: u32) -> Option<Changed> {
        self.lines[number].set(requested)
    }

    /// Whether any unit requests an interrupt, as far as they have been looked at.
    pub(super) fn is_requested(&self, interrupt: usize) -> bool {
        let mut all = self.timed.iter().chain(&self.lines);
        all.any(|requester| requester.requests(interrupt))
    }

    pub(super) fn forget_lines(&mut self) {
        for requester in self.timed.iter_mut().chain(&mut self.lines) {
            requester.requested = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::Model;

    #[test]
    fn entries_are_in_order_and_do_not_overlap() {
        for model in Model::ALL {
            let chip = model.description();
            for pair in chip.map().windows(2) {
                let (first, second) = (pair[0], pair[1]);
                let is_apart = first.base + first.size <= second.base;
                assert!(is_apart, "{}: {} and {}", chip.name, first.name, second.name);
            }
        }
    }

    #[test]
    fn what_is_due_is_found_and_what_never_is_does_not_count() {
        let (mut slots, _) = Slots::new(Model::F446.description().map());
        assert_eq!((slots.next(), slots.due(Cycles::MAX - 1)), (NEVER, 0));
        for (timed, due) in [(3, 50), (0, 70), (9, 60)] {
            slots.set_date(timed, due, 0);
        }
        assert_eq!((slots.next(), slots.due(49), slots.due(60)), (50, 0, 1 << 3 | 1 << 9));
        slots.set_date(3, NEVER, 0);
        assert_eq!((slots.next(), slots.due(60)), (60, 1 << 9));
        assert_eq!(slots.dates()[3], NEVER);
    }

    #[test]
    fn addresses_are_found() {
        let (mut slots, _) = Slots::new(Model::F446.description().map());
        let mut name = |address| slots.find(address).map(|at| slots.at(at).entry.name);
        assert_eq!(name(0x4000_4404), Some("USART2"));
        assert_eq!(name(0x4000_2400), None);
        assert_eq!(name(0x5003_ffff), Some("USB OTG FS"));
    }

    #[test]
    fn only_what_is_not_modeled_is_replaced() {
        let (mut slots, others) = Slots::new(Model::F446.description().map());
        let place = |base, size| MapEntry::unmodeled(base, size, "new");
        let found = slots.add(place(0x4000_4700, 0x200), others.len());
        assert_eq!(found, Err(CannotAdd::Taken { by: "USART2" }));
        assert_eq!(slots.add(place(0x4000_6400, 0x400), others.len()), Ok(()));
        assert_eq!(slots.add(place(0x6000_0000, 4), others.len() + 1), Ok(()));
        for address in [0x4000_6404, 0x6000_0003] {
            assert_eq!(slots.find(address).map(|at| slots.at(at).entry.name), Some("new"));
        }
        assert_eq!(slots.find(0x6000_0004), None);
        assert!(slots.bases.is_sorted());
        let found = slots.add(place(0x6000_0003, 1), others.len() + 2);
        assert_eq!(found, Err(CannotAdd::Taken { by: "new" }));
    }
}

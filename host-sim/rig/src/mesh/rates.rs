//! The rates of cables and of ports to hosts.

use hopwise_node::wire::{
    BAUD_RATES, DEFAULT_BAUD, MAX_EXPRESSION, MAX_LINK_RATES, UartClock, default_host_baud, rates_agree,
};

use serde::{Deserialize, Deserializer};

use super::{Mesh, MeshRule, NodePort};
use crate::boards::Uart;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CableRate {
    /// The ends of each cable choose it: `"auto"`.
    Auto,
    Fixed(u32),
}

impl<'de> Deserialize<'de> for CableRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = toml::Value::deserialize(deserializer)?;
        let rate = value.as_integer().and_then(|rate| u32::try_from(rate).ok());
        match rate {
            Some(rate) => Ok(CableRate::Fixed(rate)),
            None if value.as_str() == Some("auto") => Ok(CableRate::Auto),
            None => Err(serde::de::Error::custom("baud is a number, or \"auto\"")),
        }
    }
}

pub(crate) fn clock(uart: &Uart) -> UartClock {
    UartClock {
        hertz: uart.clock,
        low_power: uart.is_low_power(),
    }
}

/// The rate nearest to this one at which serial ports with these clocks agree.
fn nearest(clocks: &[UartClock], baud: u32) -> u32 {
    let near = |clock: &UartClock| {
        let (clock, divisor) = (*clock, clock.divisor(baud));
        [divisor - 1, divisor, divisor + 1].map(|divisor| clock.nearest(clock.divided(divisor)))
    };
    let all = clocks.iter().flat_map(near);
    let possible = all.filter(|rate| BAUD_RATES.contains(rate) && rates_agree(clocks.iter().copied(), *rate));
    let best = possible.min_by_key(|rate| rate.abs_diff(baud));
    best.unwrap_or(DEFAULT_BAUD)
}

fn check(clocks: &[UartClock], baud: u32, what: impl FnOnce() -> String) -> Result<(), MeshRule> {
    if rates_agree(clocks.iter().copied(), baud) {
        return Ok(());
    }
    let nearest = nearest(clocks, baud);
    let what = what();
    Err(MeshRule::Other(format!(
        "{what} cannot run at {baud} baud within 1.5 %; the nearest rate is {nearest}"
    )))
}

impl Mesh {
    pub fn rate(&self, end: NodePort) -> u32 {
        self.cable_rates.get(&end).copied().unwrap_or(self.baud)
    }

    pub fn host_baud(&self) -> u32 {
        self.host_baud.unwrap_or_else(|| default_host_baud(self.slowest_rate()))
    }

    /// Sets the rate of all cables, if they can run at it.
    pub fn set_baud(&mut self, baud: CableRate) -> Result<(), MeshRule> {
        self.choose(baud);
        self.cable_rates.clear();
        self.check_rates()
    }

    /// The rate of cables that have none of their own. Where the ends choose it, they begin at the default.
    pub(super) fn choose(&mut self, baud: CableRate) {
        self.is_auto = baud == CableRate::Auto;
        self.baud = match baud {
            CableRate::Auto => DEFAULT_BAUD,
            CableRate::Fixed(baud) => baud,
        };
    }

    pub(super) fn slowest_rate(&self) -> u32 {
        self.cable_rates
            .values()
            .fold(self.baud, |slowest, rate| slowest.min(*rate))
    }

    /// The rates of a board's links, if they differ.
    pub(super) fn link_rates(&self, node: u64) -> Vec<u32> {
        if self.cable_rates.is_empty() {
            return Vec::new();
        }
        let links = 0..self.kind_of(node).links.len().min(MAX_LINK_RATES);
        let others = if self.is_auto { 0 } else { self.baud };
        let own = |end: NodePort| self.cable_rates.get(&end).copied();
        let rate = |link| self.port_at(node, link).and_then(own).unwrap_or(others);
        links.map(rate).collect()
    }

    pub(super) fn set_cable_rate(&mut self, at: NodePort, baud: u32) -> Result<(), MeshRule> {
        let far = self.cable_at(at)?;
        if !BAUD_RATES.contains(&baud) {
            return Err(MeshRule::other(hopwise_node::wire::BadConfig::Baud(baud)));
        }
        for end in [at, far] {
            if self.cable_rates.insert(end, baud).is_some_and(|other| other != baud) {
                return Err(MeshRule::Other(format!("the cable at {at} has two rates")));
            }
        }
        self.check_cable(at, far)
    }

    /// Ends the reading of cables. Those over adapters, which cannot change their rates, keep the first.
    pub(super) fn fix_rates(&mut self) -> Result<(), MeshRule> {
        let rate = self.slowest_rate();
        let over_adapters = self.serials.keys().filter(|_| self.is_auto);
        let ends = over_adapters.flat_map(|here| [Some(*here), self.far_end(*here)]);
        for end in ends.flatten().collect::<Vec<_>>() {
            self.cable_rates.entry(end).or_insert(rate);
        }
        match self.network.to_string().len() + 3 * MAX_LINK_RATES > MAX_EXPRESSION && !self.cable_rates.is_empty() {
            true => Err(self.too_long()),
            false => Ok(()),
        }
    }

    pub(super) fn set_host_baud(&mut self, baud: u32) -> Result<(), MeshRule> {
        if !BAUD_RATES.contains(&baud) || !baud.is_multiple_of(100) || baud / 100 > u16::MAX.into() {
            let rates = "38400 to 6553500 baud, in hundreds";
            return Err(MeshRule::Other(format!(
                "the serial ports to hosts run at {rates}, not at {baud}"
            )));
        }
        self.host_baud = Some(baud);
        self.check_hosts()
    }

    fn check_cable(&self, from: NodePort, to: NodePort) -> Result<(), MeshRule> {
        let clocks = [from, to].map(|end| clock(self.uart(end)));
        check(&clocks, self.rate(from), || {
            let uart = |end| format!("{} of {end}", self.uart(end).name);
            format!("the cable from {} to {}", uart(from), uart(to))
        })
    }

    fn check_hosts(&self) -> Result<(), MeshRule> {
        for kind in self.kinds() {
            check(&[clock(&kind.serial)], self.host_baud(), || {
                format!("{}, a {}'s port to the host,", kind.serial.name, kind.name)
            })?;
        }
        Ok(())
    }

    /// Whether both ends of every cable, and all ports to hosts, can run at their rates.
    pub(super) fn check_rates(&self) -> Result<(), MeshRule> {
        for node in self.nodes() {
            for port in 0..self.degree(node) {
                let end = NodePort { node, port };
                if let Some(far) = self.far_end(end) {
                    self.check_cable(end, far)?;
                }
            }
        }
        self.check_hosts()
    }
}

//! The log: every event of the node as a defmt frame.

use hopwise_core::node::{Event, Observer};

/// Watches the node for the log and the LED.
pub(crate) struct Watch {
    /// Log packets whatever level was built in.
    pub(crate) log_packets: bool,
    /// A packet came or went since the LED looked.
    pub(crate) traffic: bool,
    /// Links with someone at the other end who does not belong there: bit 0 is link 0.
    pub(crate) miswired: u32,
}

impl Watch {
    pub(crate) const fn new(log_packets: bool) -> Self {
        Watch {
            log_packets,
            traffic: false,
            miswired: 0,
        }
    }
}

impl Observer for Watch {
    fn note(&mut self, event: Event) {
        match event {
            Event::LinkUp { link, .. } => {
                self.miswired &= !(1 << link);
                defmt::info!("{}", event);
            }
            Event::LinkDown { link, .. } => {
                self.miswired &= !(1 << link);
                defmt::info!("{}", event);
            }
            Event::Miswired { link, .. } => {
                self.miswired |= 1 << link;
                defmt::warn!("{}", event);
            }
            Event::Damaged { .. } => defmt::debug!("{}", event),
            Event::Sent { .. } | Event::Received { .. } => {
                self.traffic = true;
                if self.log_packets {
                    defmt::info!("{}", event);
                } else {
                    defmt::trace!("{}", event);
                }
            }
            _ if self.log_packets => defmt::info!("{}", event),
            _ => defmt::debug!("{}", event),
        }
    }
}

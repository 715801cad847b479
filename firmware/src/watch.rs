//! The log: every event of the node as a defmt frame.

use hopwise_core::router::{Event, Observer};

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
        let wanted = match event {
            Event::LinkUp { link, .. } | Event::LinkDown { link, .. } => {
                self.miswired &= !(1 << link);
                true
            }
            Event::Miswired { link, .. } => {
                self.miswired |= 1 << link;
                return defmt::warn!("{}", event);
            }
            Event::Damaged { .. } => return defmt::debug!("{}", event),
            Event::Sent { .. } | Event::Received { .. } => {
                self.traffic = true;
                if !self.log_packets {
                    return defmt::trace!("{}", event);
                }
                true
            }
            _ => self.log_packets,
        };
        if wanted {
            defmt::info!("{}", event);
        } else {
            defmt::debug!("{}", event);
        }
    }
}

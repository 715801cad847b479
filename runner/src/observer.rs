//! Events of the router: each is a line of the log, and some are shown by the LED.

use hopwise_node::link::Down;
use hopwise_node::router::{Event, Observer};

/// Observes the router for the log and the LED.
#[derive(Debug)]
pub(crate) struct BoardObserver {
    /// Log packets regardless of the compiled log level.
    pub(crate) log_packets: bool,
    /// Whether a packet came or went since the LED looked.
    pub(crate) packets_passed: bool,
    /// Miswired links: bit 0 is link 0.
    pub(crate) miswired: u32,
    /// Links with a key mismatch, or where only one of the ends has a key.
    pub(crate) locked_out: u32,
}

impl BoardObserver {
    pub(crate) const fn new(log_packets: bool) -> Self {
        BoardObserver {
            log_packets,
            packets_passed: false,
            miswired: 0,
            locked_out: 0,
        }
    }
}

impl Observer for BoardObserver {
    #[cfg_attr(not(feature = "defmt"), allow(clippy::if_same_then_else, reason = "without a log"))]
    fn note(&mut self, event: Event) {
        let wanted = match event {
            Event::Clock { .. } => true,
            Event::LinkUp { link, .. } | Event::LinkDown { link, .. } => {
                self.miswired &= !(1 << link);
                self.locked_out &= !(1 << link);
                if let Event::LinkDown { reason, .. } = event
                    && matches!(reason, Down::Unkeyed | Down::WrongKey)
                {
                    self.locked_out |= 1 << link;
                    log!(warn, "{}", event);
                    return;
                }
                true
            }
            Event::Miswired { link, .. } => {
                self.miswired |= 1 << link;
                log!(warn, "{}", event);
                return;
            }
            Event::Damaged { .. } => {
                log!(debug, "{}", event);
                return;
            }
            Event::Sent { .. } | Event::Received { .. } => {
                self.packets_passed = true;
                if !self.log_packets {
                    log!(trace, "{}", event);
                    return;
                }
                true
            }
            _ => self.log_packets,
        };
        if wanted {
            log!(info, "{}", event);
        } else {
            log!(debug, "{}", event);
        }
    }
}

//! Ports wired to each other, bit by bit.

use super::super::rx_pin::Noise;
use super::*;

pub(super) const BIT: u64 = 160;

fn port(bit: u64, control: u32) -> Usart {
    let mut port = Usart::new(Registers::V2);
    port.set_pins(true, true, 0);
    port.write(0x08, bit as u32, 0);
    port.write(0x0c, UE | TE | RE | control, 0);
    port
}

fn carry(from: &mut Usart, to: &mut Usart) {
    for wave in from.take_output() {
        to.hear(wave);
    }
}

pub(super) fn advance(port: &mut Usart, now: Cycles) {
    while port.next_event() <= now {
        let then = port.next_event();
        port.advance(then);
        if port.next_event() <= then {
            break;
        }
    }
    port.advance(now);
}

#[test]
fn every_byte_arrives_as_it_was_sent() {
    for byte in 0..=255 {
        let (mut from, mut to) = (port(BIT, 0), port(BIT, 0));
        from.write(0x04, byte, 1000);
        carry(&mut from, &mut to);
        advance(&mut to, 1000 + BIT * 9);
        assert_eq!(to.status & RXNE, 0, "the stop bit has not been seen");
        advance(&mut to, 1000 + BIT * 10);
        assert_eq!(to.read(0x00, 0) & (RXNE | NF | FE | ORE), RXNE);
        assert_eq!(to.read(0x04, 0), byte);
        assert_eq!(to.status & RXNE, 0);
    }
}

#[test]
fn transmit_flags_follow_the_shift_register() {
    let mut port = port(BIT, 0);
    port.write(0x04, 1, 0);
    assert_eq!(port.status & (TXE | TC), TXE, "the byte has gone to the shift register");
    port.write(0x04, 2, 0);
    assert_eq!(port.status & (TXE | TC), 0);
    advance(&mut port, BIT * 10);
    assert_eq!(port.status & (TXE | TC), TXE);
    advance(&mut port, BIT * 20 - 1);
    assert_eq!(port.status & (TXE | TC), TXE);
    advance(&mut port, BIT * 20);
    assert_eq!(port.status & (TXE | TC), TXE | TC);
}

#[test]
fn a_byte_not_taken_is_an_overrun() {
    let (mut from, mut to) = (port(BIT, 0), port(BIT, 0));
    for (byte, at) in [(0x11, 0), (0x22, BIT * 10)] {
        advance(&mut from, at);
        from.write(0x04, byte, at);
    }
    advance(&mut from, BIT * 30);
    carry(&mut from, &mut to);
    advance(&mut to, BIT * 30);
    assert_eq!(to.read(0x00, 0) & (RXNE | ORE), RXNE | ORE);
    assert_eq!((to.read(0x04, 0), to.counters.overruns), (0x11, 1));
    assert_eq!(to.read(0x00, 0) & (RXNE | ORE), 0, "status and data were read");
}

#[test]
fn idle_comes_one_frame_after_the_last_byte() {
    let (mut from, mut to) = (port(BIT, 0), port(BIT, IDLE));
    from.write(0x04, 0x55, 0);
    carry(&mut from, &mut to);
    advance(&mut to, BIT * 20 - 1);
    assert_eq!(to.status & IDLE, 0);
    advance(&mut to, BIT * 20);
    assert!(to.status & IDLE != 0 && to.interrupts() == 1);
    to.read(0x00, 0);
    to.read(0x04, 0);
    advance(&mut to, BIT * 100);
    assert_eq!(to.status & IDLE, 0, "only once");
}

#[test]
fn the_receiver_bears_four_percent_and_not_eight() {
    let errors = |bit: u64| {
        let mut wrong = 0;
        for byte in 0..=255 {
            let (mut from, mut to) = (port(BIT, 0), port(bit, 0));
            from.write(0x04, byte, 1000);
            carry(&mut from, &mut to);
            advance(&mut to, 1000 + BIT * 11);
            wrong += u32::from(to.read(0x00, 0) & (RXNE | FE | NF) != RXNE || to.read(0x04, 0) != byte);
        }
        wrong
    };
    assert_eq!((errors(BIT * 104 / 100), errors(BIT * 96 / 100)), (0, 0));
    assert!(errors(BIT * 108 / 100) > 200 && errors(BIT * 92 / 100) > 100);
}

#[test]
fn a_line_that_stays_low_is_one_break() {
    let mut to = port(BIT, 0);
    to.hear(Wave::level(50, false));
    advance(&mut to, BIT * 100);
    assert_eq!(to.read(0x00, 0) & (RXNE | FE | ORE), RXNE | FE);
    assert_eq!((to.read(0x04, 0), to.counters.breaks), (0, 1));
    to.hear(Wave::level(BIT * 100, true));
    advance(&mut to, BIT * 200);
    assert_eq!(to.read(0x00, 0) & RXNE, 0);
}

#[test]
fn a_spike_is_no_byte_and_a_glitch_is_noise() {
    let mut to = port(BIT, 0);
    for (at, level) in [(100, false), (110, true)] {
        to.hear(Wave::level(at, level));
    }
    advance(&mut to, BIT * 20);
    assert_eq!(to.status & RXNE, 0);
    // A byte of ones, with the ninth sample of one bit pulled low.
    let start = BIT * 30;
    let glitch = start + BIT * 3 + BIT * 9 / 16;
    for (at, level) in [
        (start, false),
        (start + BIT, true),
        (glitch - 2, false),
        (glitch + 2, true),
    ] {
        to.hear(Wave::level(at, level));
    }
    advance(&mut to, BIT * 45);
    assert_eq!(to.read(0x00, 0) & (RXNE | NF | FE), RXNE | NF);
    assert_eq!(to.read(0x04, 0), 0xff);
}

/// The receiver reads a frame at once where it can. Told level by level, which it always samples, it must come to the same.
#[test]
fn a_frame_is_received_as_if_it_were_sampled() {
    let start = 1000;
    let receive = |waves: &[Wave], noise| {
        let mut to = port(BIT, 0);
        to.set_noise(noise);
        waves.iter().for_each(|wave| to.hear(*wave));
        advance(&mut to, start + BIT * 30);
        (to.status, to.received, to.counters)
    };
    let noise = Noise {
        shorter_than: Cycles::MAX,
        chance: 1 << 27,
        seed: 5,
        until: Cycles::MAX,
    };
    let mut whole = 0;
    for bit in BIT * 9 / 10..=BIT * 11 / 10 {
        for byte in (0..256).step_by(5) {
            let levels = byte << 1 | 1 << 9;
            // Something else begins in the middle, or long after.
            let change = Wave::level(start + u64::from(byte) * 8, bit % 2 == 0);
            let frame = [Wave::frame(start, bit, levels, 10), change];
            let single = (0..10).map(|place| Wave::level(start + bit * place, levels >> place & 1 != 0));
            let single: Vec<Wave> = single.chain([change]).collect();
            for noise in [None, Some(noise)] {
                let (at_once, sampled) = (receive(&frame, noise), receive(&single, noise));
                assert_eq!(at_once, sampled, "{byte:#04x} with bits of {bit}");
            }
            whole += u32::from(receive(&frame, None).1 == u32::from(byte));
        }
    }
    assert!(whole > 300, "{whole} were received whole");
}

#[test]
fn parity_is_added_and_checked() {
    let (mut from, mut to) = (port(BIT, M | PCE), port(BIT, M | PCE));
    from.write(0x04, 0x07, 0);
    carry(&mut from, &mut to);
    advance(&mut to, BIT * 12);
    assert_eq!((to.status & PE, to.received), (0, 0x107));
    let mut odd = port(BIT, M | PCE | PS);
    from = port(BIT, M | PCE);
    from.write(0x04, 0x07, 0);
    carry(&mut from, &mut odd);
    advance(&mut odd, BIT * 12);
    assert_eq!(odd.status & PE, PE);
}

#[test]
fn writing_zero_to_rxne_loses_a_byte() {
    let (mut from, mut to) = (port(BIT, 0), port(BIT, 0));
    from.write(0x04, 9, 0);
    carry(&mut from, &mut to);
    advance(&mut to, BIT * 10);
    to.write(0x00, !(TC | RXNE), 0);
    assert_eq!((to.status & RXNE, to.counters.discarded), (0, 1));
}

#[test]
fn without_its_pins_a_port_is_deaf_and_mute() {
    let (mut from, mut to) = (port(BIT, 0), port(BIT, 0));
    from.set_pins(false, true, 0);
    from.write(0x04, 0x55, 0);
    assert_eq!(from.take_output().len(), 0);
    assert_eq!(from.counters.sent, 0);
    assert!(from.take_sent_nowhere() && !from.take_sent_nowhere());
    advance(&mut from, BIT * 10);
    assert_eq!(from.status & TC, TC, "it notices nothing");
    from.set_pins(true, true, 0);
    from.write(0x04, 0x55, BIT * 20);
    assert_eq!(from.counters.sent, 1);
    assert!(!from.take_sent_nowhere() && !to.listens_nowhere());
    to.set_pins(true, false, 0);
    assert!(to.listens_nowhere());
    carry(&mut from, &mut to);
    advance(&mut to, BIT * 40);
    assert_eq!((to.status & RXNE, to.counters.received), (0, 0));
}

/// Eight samples a bit: the mantissa begins at bit 4, the fraction has bits 0 to 2.
#[test]
fn with_eight_samples_the_divider_has_three_bits_of_a_fraction() {
    for (divider, cycles) in [(0x10, 8), (0x12, 10), (0x17, 15)] {
        let (mut from, mut to) = (port(divider, OVER8), port(divider, OVER8));
        assert_eq!(from.bit_time(), cycles);
        assert!(from.take_broken().is_empty());
        from.write(0x04, 0xa5, 1000);
        carry(&mut from, &mut to);
        advance(&mut to, 1000 + cycles * 10);
        assert_eq!((to.read(0x00, 0) & (RXNE | NF | FE), to.read(0x04, 0)), (RXNE, 0xa5));
    }
    for (divider, control) in [(0x18, OVER8), (0x0f, 0), (0x0f, OVER8)] {
        let broken = port(divider, control).take_broken();
        assert!(!broken.is_empty(), "{divider:#x} {control:#x}");
    }
}

#[test]
fn a_divider_is_not_changed_within_a_byte() {
    let mut port = port(BIT, 0);
    port.write(0x08, 80, 0);
    assert!(port.take_broken().is_empty());
    port.write(0x04, 1, 0);
    port.write(0x08, 40, 0);
    assert_eq!(port.take_broken().len(), 1);
    advance(&mut port, 80 * 10);
    port.write(0x08, 160, 80 * 10);
    assert!(port.take_broken().is_empty());
}

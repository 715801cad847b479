//! Ports wired to each other, bit by bit.

use super::super::rx_pin::Noise;
use super::*;

const BIT: u64 = 160;

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

fn advance(port: &mut Usart, now: Cycles) {
    while port.next_event() <= now {
        let then = port.next_event();
        port.advance(then);
        if port.next_event() <= then {
            break;
        }
    }
    port.advance(now);
}

/// With the registers of the F4, and those of the others: BRR, CR1 and what switches the port on there, the status, and the data to read and to
/// write.
#[test]
fn every_byte_arrives_as_it_was_sent() {
    let newer = [0x0c, 0x00, 1, 0x1c, 0x24, 0x28];
    for (registers, [brr, cr1, on, status, read, write], divider) in [
        (Registers::V2, [0x08, 0x0c, UE, 0x00, 0x04, 0x04], BIT),
        (Registers::V3 { fifo: 0 }, newer, BIT),
        (Registers::V3 { fifo: 8 }, newer, BIT),
        (Registers::LowPower { fifo: 8 }, newer, BIT * 256),
    ] {
        let port = || {
            let mut port = Usart::new(registers);
            port.set_pins(true, true, 0);
            port.write(brr, divider as u32, 0);
            port.write(cr1, on | TE | RE, 0);
            port
        };
        for byte in 0..=255 {
            let (mut from, mut to) = (port(), port());
            from.write(write, byte, 1000);
            carry(&mut from, &mut to);
            advance(&mut to, 1000 + BIT * 9);
            assert_eq!(to.status & RXNE, 0, "the stop bit has not been seen");
            advance(&mut to, 1000 + BIT * 10);
            assert_eq!(to.read(status, 0) & (RXNE | NF | FE | ORE), RXNE, "{registers:?}");
            assert_eq!(to.read(read, 0), byte);
            assert_eq!(to.read(status, 0) & RXNE, 0);
        }
    }
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

//! Register scripts, with a memory at the wires.

use super::*;
use crate::cpu::Cycles;

const MEMORY: u8 = 0x50;

/// A port that is on, with bits of 20 cycles, and what was done to it.
struct Script {
    port: Box<dyn Port>,
    now: Cycles,
}

impl Script {
    fn new(registers: Registers) -> Self {
        let mut port = registers.port();
        port.bus()
            .attach(MEMORY, Box::new(I2cMemory::new(16).with(&[10, 11, 12, 13])));
        port.bus().is_connected = true;
        let mut script = Script { port, now: 0 };
        match registers {
            Registers::V1 => script.write(&[(0x1c, 10), (0x00, 1)]),
            Registers::V2 => script.write(&[(0x10, 9 << 8 | 9), (0x00, 1)]),
        }
        script
    }

    fn write(&mut self, registers: &[(u32, u32)]) {
        for (offset, value) in registers {
            self.port.write(*offset, *value, self.now);
        }
    }

    fn read(&mut self, offset: u32) -> u32 {
        self.port.read(offset, self.now)
    }

    fn pass(&mut self, bits: u64) {
        self.now += bits * 20;
        self.port.advance(self.now);
    }

    fn broken(&mut self) -> Vec<String> {
        self.port.take_broken().into_iter().map(|broken| broken.how).collect()
    }
}

mod v1 {
    use super::super::v1::{ACK, ADDR, AF, BTF, CR1, CR2, DR, PE as ON, RXNE, SB, SR1, SR2, START, STOP, TXE};
    use super::*;

    fn call(script: &mut Script, address: u32) {
        script.write(&[(CR1, ON | START | ACK)]);
        script.pass(1);
        assert_eq!(script.read(SR1) & SB, SB);
        script.write(&[(DR, address)]);
        script.pass(9);
    }

    #[test]
    fn bytes_are_written_and_read_back_after_another_start() {
        let mut script = Script::new(Registers::V1);
        call(&mut script, 0xa0);
        assert_eq!(script.read(SR1), ADDR);
        assert_eq!(script.read(SR2), 7, "master, busy, sends");
        for byte in [2, 55] {
            assert_eq!(script.read(SR1) & TXE, TXE);
            script.write(&[(DR, byte)]);
            assert_eq!(script.read(SR1), TXE, "it is in the shift register at once");
            script.pass(9);
            assert_eq!(script.read(SR1), TXE | BTF);
        }
        // Back to the place, then two bytes from there.
        call(&mut script, 0xa0);
        script.read(SR1);
        script.read(SR2);
        script.write(&[(DR, 2)]);
        script.pass(9);
        call(&mut script, 0xa1);
        script.read(SR1);
        assert_eq!(script.read(SR2), 3);
        script.pass(9);
        assert_eq!((script.read(SR1), script.read(DR)), (RXNE, 55));
        script.write(&[(CR1, ON | STOP)]);
        script.pass(9);
        assert_eq!((script.read(SR1), script.read(DR)), (RXNE, 13));
        assert_eq!(script.read(SR2), 3, "the stop takes a bit");
        script.pass(1);
        assert_eq!((script.read(SR2), script.read(CR1)), (0, ON));
        assert_eq!(script.broken(), [""; 0]);
    }

    #[test]
    fn a_byte_that_is_not_taken_holds_the_clock() {
        let mut script = Script::new(Registers::V1);
        call(&mut script, 0xa1);
        assert_eq!(script.read(SR1), ADDR);
        script.pass(100);
        assert_eq!(script.read(SR1), ADDR, "it waits for SR2");
        script.read(SR2);
        script.pass(100);
        assert_eq!(script.read(SR1), RXNE | BTF);
        assert_eq!((script.read(DR), script.read(SR1)), (10, RXNE));
        assert_eq!((script.read(DR), script.read(SR1)), (11, 0));
        script.pass(9);
        assert_eq!(script.read(DR), 12, "none is lost");
    }

    #[test]
    fn nobody_answers_and_errors_are_told_by_interrupt_until_cleared() {
        let mut script = Script::new(Registers::V1);
        script.write(&[(CR2, 3 << 8)]);
        call(&mut script, 0x22);
        assert_eq!((script.read(SR1), script.port.interrupts()), (AF, 2));
        script.write(&[(SR1, !AF)]);
        assert_eq!((script.read(SR1), script.port.interrupts()), (0, 0));
        script.write(&[(CR1, ON | STOP)]);
        script.pass(1);
        assert_eq!(script.read(SR2), 0);
    }

    #[test]
    fn an_address_needs_a_look_at_the_status_first() {
        let mut script = Script::new(Registers::V1);
        script.write(&[(CR1, ON | START)]);
        script.pass(1);
        script.write(&[(DR, 0xa0)]);
        script.pass(20);
        assert_eq!(script.read(SR1), SB);
    }

    #[test]
    fn rules() {
        let mut script = Script::new(Registers::V1);
        script.write(&[(0x1c, 11)]);
        assert_eq!(script.broken(), ["CCR or TRISE is changed while the port is on"]);
        assert_eq!(script.read(0x1c), 10);
        script.write(&[(CR1, ON | START), (CR1, ON)]);
        let found = script.broken();
        assert_eq!(found, ["CR1 is written while a START or a STOP is still to be done"]);
        let mut port = Registers::V1.port();
        port.bus().is_connected = true;
        port.write(CR1, ON | START, 0);
        assert_eq!(port.take_broken().len(), 1, "without a frequency");
    }
}

mod v2 {
    use super::super::v2::*;
    use super::*;

    fn transfer(bytes: u32, rest: u32) -> u32 {
        bytes << 16 | START | u32::from(MEMORY) << 1 | rest
    }

    #[test]
    fn bytes_are_written_and_read_back_after_another_start() {
        let mut script = Script::new(Registers::V2);
        script.write(&[(CR2, transfer(2, AUTO_END))]);
        assert_eq!(script.read(ISR), BUSY | TXE);
        script.pass(10);
        assert_eq!((script.read(ISR), script.read(CR2) & START), (BUSY | TXE | TXIS, 0));
        script.write(&[(TXDR, 2)]);
        script.pass(9);
        script.write(&[(TXDR, 55)]);
        script.pass(10);
        assert_eq!(script.read(ISR), TXE | STOPF);
        script.write(&[(ICR, STOPF), (CR2, transfer(1, 0))]);
        script.pass(10);
        script.write(&[(TXDR, 2)]);
        script.pass(9);
        assert_eq!(script.read(ISR), BUSY | TXE | TC);
        script.write(&[(CR2, transfer(2, AUTO_END | READS))]);
        assert_eq!(script.read(ISR) & TC, 0);
        script.pass(19);
        assert_eq!((script.read(ISR), script.read(RXDR)), (BUSY | TXE | RXNE, 55));
        script.pass(9);
        assert_eq!(script.read(RXDR), 13);
        script.pass(1);
        assert_eq!(script.read(ISR), TXE | STOPF);
        assert_eq!(script.broken(), [""; 0]);
    }

    #[test]
    fn a_byte_that_is_not_taken_holds_the_clock() {
        let mut script = Script::new(Registers::V2);
        script.write(&[(CR2, transfer(3, AUTO_END | READS))]);
        script.pass(200);
        assert_eq!(script.read(ISR), BUSY | TXE | RXNE, "no stop");
        assert_eq!((script.read(RXDR), script.read(RXDR)), (10, 11));
        assert_eq!(script.read(ISR) & RXNE, 0);
        script.pass(10);
        assert_eq!((script.read(RXDR), script.read(ISR)), (12, TXE | STOPF));
    }

    #[test]
    fn more_bytes_follow_by_reload() {
        let mut script = Script::new(Registers::V2);
        script.write(&[(CR1, 1 | 1 << 6), (CR2, transfer(1, RELOAD | READS))]);
        script.pass(19);
        assert_eq!((script.read(RXDR), script.read(ISR)), (10, BUSY | TXE | TCR));
        assert_eq!(script.port.interrupts(), 1);
        script.write(&[(CR2, transfer(1, AUTO_END | READS) & !START)]);
        assert_eq!(script.port.interrupts(), 0);
        script.pass(10);
        assert_eq!((script.read(RXDR), script.read(ISR)), (11, TXE | STOPF));
    }

    #[test]
    fn what_is_not_acknowledged_ends_with_a_stop() {
        let mut script = Script::new(Registers::V2);
        script.write(&[(CR1, 1 | 1 << 4), (CR2, AUTO_END | START | 1 << 16 | 0x22)]);
        script.pass(10);
        assert_eq!(script.read(ISR), BUSY | TXE | NACKF);
        assert_eq!(script.port.interrupts(), 1);
        script.pass(1);
        assert_eq!(script.read(ISR), TXE | NACKF | STOPF);
        // The flag of before does not end what comes next.
        script.write(&[(CR2, transfer(2, AUTO_END))]);
        script.pass(10);
        assert_eq!(script.read(ISR) & TXIS, TXIS);
        // The memory has no such place.
        script.write(&[(ICR, NACKF | STOPF), (TXDR, 99)]);
        script.pass(10);
        assert_eq!(script.read(ISR), TXE | NACKF | STOPF);
    }

    #[test]
    fn rules() {
        let mut script = Script::new(Registers::V2);
        script.write(&[(0x10, 1)]);
        assert_eq!(script.broken(), ["TIMINGR is changed while the port is on"]);
        assert_eq!(script.read(0x10), 0x909);
        script.write(&[(CR2, transfer(1, 0)), (CR2, transfer(2, 0))]);
        assert_eq!(script.broken(), ["CR2 is changed while START is set"]);
    }

    #[test]
    fn switching_it_off_ends_everything() {
        let mut script = Script::new(Registers::V2);
        script.write(&[(CR2, transfer(1, 0))]);
        script.pass(10);
        script.write(&[(CR1, 0)]);
        script.pass(10);
        assert_eq!((script.read(ISR), script.read(0x10)), (TXE, 0x909));
    }
}

#[test]
fn without_its_wires_nothing_begins() {
    for (registers, offset, start) in [(Registers::V1, 0x00, 0x101), (Registers::V2, 0x04, 0x2000)] {
        let mut script = Script::new(registers);
        script.port.bus().is_connected = false;
        script.write(&[(offset, start)]);
        script.pass(100);
        assert!(script.port.bus().is_missed);
        assert_eq!(script.port.next_event(), crate::cpu::NEVER);
    }
}

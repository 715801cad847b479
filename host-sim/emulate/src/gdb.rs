//! A GDB server for one board: all boards stand still while GDB holds it.

use std::net::{SocketAddr, TcpListener, TcpStream};

use gdbstub::common::Signal;
use gdbstub::conn::{Connection, ConnectionExt};
use gdbstub::stub::run_blocking::{BlockingEventLoop, Event, WaitForStopReasonError};
use gdbstub::stub::{DisconnectReason, GdbStub, SingleThreadStopReason};
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::base::singlethread::{
    SingleThreadBase, SingleThreadResume, SingleThreadResumeOps, SingleThreadSingleStep, SingleThreadSingleStepOps,
};
use gdbstub::target::ext::breakpoints::{Breakpoints, BreakpointsOps, SwBreakpoint, SwBreakpointOps};
use gdbstub::target::{Target, TargetError, TargetResult};
use hopwise_emulator::time::{MICROSECOND, Time};
use hopwise_emulator::world::World;

use super::cortex_m::{AnyKind, CortexM, CortexMRegisters};

/// Instructions of the board between two looks at the connection.
const BETWEEN_LOOKS: u32 = 10_000;
/// How far everything runs at once while the board sleeps: less than a byte takes, so that none wakes it meanwhile.
const ASLEEP: Time = 5 * MICROSECOND;

/// A world of which GDB holds one board.
pub struct Held<'w> {
    world: &'w mut World,
    node: usize,
    breakpoints: Vec<u32>,
    stepping: bool,
    until: Time,
}

#[derive(Debug, thiserror::Error)]
pub enum GdbFailed {
    #[error("port {port}: {error}")]
    Listen { port: u16, error: std::io::Error },
    #[error("the connection to GDB failed: {0}")]
    Connection(String),
}

/// A local port that waits for a GDB.
pub struct GdbServer {
    listener: TcpListener,
    pub address: SocketAddr,
}

impl GdbServer {
    /// Listens on a local port; 0 takes a free one.
    pub fn listen(port: u16) -> Result<Self, GdbFailed> {
        let failed = |error| GdbFailed::Listen { port, error };
        let listener = TcpListener::bind(("127.0.0.1", port)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(GdbServer { listener, address })
    }

    /// Waits for a GDB and lets it hold a board until it detaches or the time is over; says which.
    pub fn serve(self, world: &mut World, node: usize, until: Time) -> Result<&'static str, GdbFailed> {
        let connected = self.listener.accept();
        let (stream, _) = connected.map_err(|error| GdbFailed::Connection(error.to_string()))?;
        let mut held = Held {
            world,
            node,
            breakpoints: Vec::new(),
            stepping: false,
            until,
        };
        match GdbStub::new(stream).run_blocking::<Held<'_>>(&mut held) {
            Ok(DisconnectReason::TargetExited(_)) => Ok("the time is over"),
            Ok(DisconnectReason::TargetTerminated(_)) => Ok("the board has stopped"),
            Ok(DisconnectReason::Disconnect) => Ok("GDB has detached"),
            Ok(DisconnectReason::Kill) => Ok("GDB has ended the run"),
            Err(error) => Err(GdbFailed::Connection(error.to_string())),
        }
    }
}

impl Held<'_> {
    /// One instruction of the board or one entry of a handler, and the others up to the same time. While it sleeps, a
    /// piece of that. Returns whether it has done anything.
    fn step(&mut self) -> bool {
        let world_now = self.world.now();
        let board = &mut self.world.boards_mut()[self.node];
        let before = (board.cpu.instructions, board.cpu.exceptions);
        let (now, wakes) = (board.now(), board.wakes_at());
        if board.is_asleep() && wakes > now {
            let until = wakes.min(world_now.max(now) + ASLEEP).min(self.until);
            self.world.run_until(until);
        } else {
            board.step();
            let now = board.now();
            if now > world_now + MICROSECOND {
                self.world.run_until(now);
            }
        }
        let cpu = &self.world.boards()[self.node].cpu;
        (cpu.instructions, cpu.exceptions) != before
    }
}

impl Target for Held<'_> {
    type Arch = CortexM;
    type Error = &'static str;

    fn base_ops(&mut self) -> BaseOps<'_, Self::Arch, Self::Error> {
        BaseOps::SingleThread(self)
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }
}

impl SingleThreadBase for Held<'_> {
    fn read_registers(&mut self, registers: &mut CortexMRegisters) -> TargetResult<(), Self> {
        let cpu = &self.world.boards()[self.node].cpu;
        registers.r[..15].copy_from_slice(&cpu.r[..15]);
        registers.r[15] = cpu.next;
        (registers.xpsr, registers.s, registers.fpscr) = (cpu.xpsr(), cpu.s, cpu.fpscr);
        Ok(())
    }

    fn write_registers(&mut self, registers: &CortexMRegisters) -> TargetResult<(), Self> {
        let cpu = &mut self.world.boards_mut()[self.node].cpu;
        cpu.r[..15].copy_from_slice(&registers.r[..15]);
        cpu.next = registers.r[15] & !1;
        cpu.set_xpsr_flags(registers.xpsr);
        (cpu.s, cpu.fpscr) = (registers.s, registers.fpscr);
        Ok(())
    }

    /// Memory as it is; registers of peripherals by whole words, with what reading them does, as a probe has it too.
    fn read_addrs(&mut self, start: u32, data: &mut [u8]) -> TargetResult<usize, Self> {
        let cpu = &mut self.world.boards_mut()[self.node].cpu;
        let mut read = 0;
        for (address, place) in (start..=u32::MAX).step_by(4).zip(data.chunks_mut(4)) {
            let bytes = match cpu.memory.bytes(address, place.len()) {
                Some(bytes) => bytes,
                None if address % 4 == 0 => match cpu.read_register(address) {
                    Some(word) => word.to_le_bytes().to_vec(),
                    None => break,
                },
                None => break,
            };
            place.copy_from_slice(&bytes[..place.len()]);
            read += place.len();
        }
        if read == 0 {
            Err(TargetError::NonFatal)
        } else {
            Ok(read)
        }
    }

    fn write_addrs(&mut self, start: u32, data: &[u8]) -> TargetResult<(), Self> {
        let memory = &mut self.world.boards_mut()[self.node].cpu.memory;
        for (address, byte) in (start..=u32::MAX).zip(data) {
            *memory.ram_byte_mut(address).ok_or(TargetError::NonFatal)? = *byte;
        }
        Ok(())
    }

    fn support_resume(&mut self) -> Option<SingleThreadResumeOps<'_, Self>> {
        Some(self)
    }
}

impl SingleThreadResume for Held<'_> {
    fn resume(&mut self, _signal: Option<Signal>) -> Result<(), Self::Error> {
        self.stepping = false;
        Ok(())
    }

    fn support_single_step(&mut self) -> Option<SingleThreadSingleStepOps<'_, Self>> {
        Some(self)
    }
}

impl SingleThreadSingleStep for Held<'_> {
    fn step(&mut self, _signal: Option<Signal>) -> Result<(), Self::Error> {
        self.stepping = true;
        Ok(())
    }
}

impl Breakpoints for Held<'_> {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }
}

impl SwBreakpoint for Held<'_> {
    fn add_sw_breakpoint(&mut self, address: u32, _kind: AnyKind) -> TargetResult<bool, Self> {
        self.breakpoints.push(address & !1);
        Ok(true)
    }

    fn remove_sw_breakpoint(&mut self, address: u32, _kind: AnyKind) -> TargetResult<bool, Self> {
        let before = self.breakpoints.len();
        self.breakpoints.retain(|breakpoint| *breakpoint != address & !1);
        Ok(self.breakpoints.len() < before)
    }
}

impl BlockingEventLoop for Held<'_> {
    type Target = Self;
    type Connection = TcpStream;
    type StopReason = SingleThreadStopReason<u32>;

    #[allow(clippy::type_complexity, reason = "the trait has this type")]
    fn wait_for_stop_reason(
        target: &mut Self,
        connection: &mut TcpStream,
    ) -> Result<
        Event<Self::StopReason>,
        WaitForStopReasonError<<Self::Target as Target>::Error, <TcpStream as Connection>::Error>,
    > {
        let faults = target.world.boards()[target.node].cpu.fault_count;
        loop {
            for _ in 0..BETWEEN_LOOKS {
                let has_acted = Held::step(target);
                if target.stepping && has_acted {
                    return Ok(Event::TargetStopped(SingleThreadStopReason::DoneStep));
                }
                let board = &target.world.boards()[target.node];
                if target.breakpoints.contains(&board.cpu.next) {
                    return Ok(Event::TargetStopped(SingleThreadStopReason::SwBreak(())));
                }
                if board.cpu.fault_count > faults {
                    return Ok(Event::TargetStopped(SingleThreadStopReason::Signal(Signal::SIGSEGV)));
                }
                if board.now() >= target.until {
                    return Ok(Event::TargetStopped(SingleThreadStopReason::Exited(0)));
                }
            }
            if connection.peek().map_err(WaitForStopReasonError::Connection)?.is_some() {
                let byte = connection.read().map_err(WaitForStopReasonError::Connection)?;
                return Ok(Event::IncomingData(byte));
            }
        }
    }

    fn on_interrupt(_target: &mut Self) -> Result<Option<Self::StopReason>, &'static str> {
        Ok(Some(SingleThreadStopReason::Signal(Signal::SIGINT)))
    }
}

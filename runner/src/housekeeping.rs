//! Periodic work: the LED, the check of tasks, and deferred actions.

use hopwise_node::boot::Trial;
use hopwise_node::capacities::Capacities;
use hopwise_node::link::Micros;
use hopwise_node::store::{self, Store};
use hopwise_node::wire::{BoardState, Failure};

use crate::driver::{Mode, Runner};
use crate::led::Rhythmic;
use crate::platform::{Platform, Upkeep};
use crate::response::Deferred;
use crate::task::Task;

const LED_STEP: Micros = 125_000;
/// Number of steps between two checks of all tasks.
const ROLL_CALL: u32 = 8;
/// Number of steps after a check by which a task must have run: two seconds, which is less than the watchdog's fastest timeout.
const HEARTBEAT_TIMEOUT: u32 = 16;
/// Uptime after which the board has not crashed soon after boot.
const SETTLED: Micros = 10_000_000;
/// Time after which a config on trial that was not confirmed is reverted.
const TRIAL: Micros = 60_000_000;
/// Pause for an erase, in quarters of a second: at most two seconds for a sector of 128 KiB, and what came before it.
const PAUSE: u8 = 14;
/// Number of steps before the slot of an image is erased.
const ROOM_STEPS: u8 = 2;

/// The erase of the slot for the next image, during which nothing else runs.
#[derive(Clone, Copy)]
enum Room {
    /// Not running, for this number of steps.
    Left(u8),
    /// The neighbors know, and it begins with the next step.
    Announced,
}

/// The reason why a node ends. Its shell restarts it, or the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Restart {
    /// By command.
    Commanded,
    /// It has another config.
    Reconfigured,
    /// It has reverted a config or an image that was not confirmed.
    GoneBack,
    /// It is to boot another image, on trial.
    Image(Trial),
    /// This task hangs, or a program that wants to be watched.
    Hanging(Task),
    /// It is to fail on purpose, to show its recovery.
    Failure(Failure),
}

impl<P: Platform, C: Capacities> Runner<P, C> {
    /// Runs once for each step of the LED, until the board is to restart.
    pub async fn keep_house(&self, upkeep: &mut impl Upkeep, store: &mut Store<impl store::Flash>) -> Restart {
        let mut next_step = self.now() + LED_STEP;
        let mut rhythmic = Rhythmic::default();
        let mut since_call = 0;
        let mut room = Room::Left(0);
        loop {
            self.heartbeat(Task::HOUSEKEEPING);
            since_call += 1;
            match self.missing_tasks() {
                0 => {
                    upkeep.heartbeat();
                    if since_call >= ROLL_CALL {
                        since_call = 0;
                        self.check_tasks();
                    }
                }
                missing if since_call >= HEARTBEAT_TIMEOUT => return Restart::Hanging(Task::first_of(missing)),
                _ => {}
            }
            if matches!(&*self.mode(), Mode::Mesh(mesh) if mesh.has_hung_program(self.now())) {
                return Restart::Hanging(Task::PROGRAM);
            }
            if self.now() >= SETTLED && self.about.state != BoardState::CrashLoop {
                upkeep.settle();
            }
            if let Some(free) = upkeep.stack_free() {
                self.set_stack_free(free);
            }
            self.repair();
            // Programs learn of link changes.
            self.exchange();
            upkeep.show(rhythmic.step(self));
            if let Some(deferred) = self.about.due(self.now()) {
                upkeep.heartbeat();
                if let Some(restart) = self.carry_out(deferred, store) {
                    return restart;
                }
                // If that took long, nothing else has run meanwhile, and now everything may.
                next_step = self.now() + LED_STEP;
                since_call = 0;
            }
            let next_image = &self.about.next_image;
            next_image.verify(|job| self.platform.verify(job));
            room = match (next_image.is_making_room(), room) {
                (false, Room::Announced) => {
                    self.end_pause();
                    Room::Left(0)
                }
                (false, _) => Room::Left(0),
                // The response leaves first, and between two erases whatever has waited for the previous one.
                (true, Room::Left(steps)) if steps < ROOM_STEPS => Room::Left(steps + 1),
                (true, Room::Left(_)) => {
                    self.pause(PAUSE);
                    Room::Announced
                }
                (true, Room::Announced) => {
                    next_image.make_room(|| self.now(), || upkeep.heartbeat());
                    self.end_pause();
                    next_step = self.now() + LED_STEP;
                    since_call = 0;
                    Room::Left(ROOM_STEPS)
                }
            };
            if self.about.on_trial.get() && self.now() >= TRIAL {
                upkeep.heartbeat();
                log!(warn, "nobody has kept the configuration: back to the one before");
                if store.go_back(self.about.epoch).is_err() {
                    log!(error, "it could not be erased");
                }
                // A config that is still there is reverted by itself after a few boots.
                return Restart::GoneBack;
            }
            if self.about.next_image.is_on_trial() && self.now() >= TRIAL {
                log!(warn, "nobody has kept the image: back to the one before");
                return Restart::GoneBack;
            }
            self.platform.wait_until(next_step).await;
            next_step += LED_STEP;
        }
    }

    fn carry_out(&self, deferred: Deferred, store: &mut Store<impl store::Flash>) -> Option<Restart> {
        let next_image = &self.about.next_image;
        match deferred {
            Deferred::Switch(trial) => {
                #[cfg(feature = "signed")]
                if let Some(floor) = next_image.floor_to_try()
                    && store.write_floor(floor, true, self.about.epoch).is_err()
                {
                    log!(error, "the floor of the image could not be written, so it is not tried");
                    return None;
                }
                return Some(Restart::Image(trial));
            }
            Deferred::Restart => return Some(Restart::Commanded),
            Deferred::Fail(failure) => return Some(Restart::Failure(failure)),
            Deferred::KeepImage => {
                // Before the image is kept: after a power failure in between, the previous one runs, and this one can be sent once more.
                #[cfg(feature = "signed")]
                let raised = next_image.raise_floor(|floor| store.write_floor(floor, false, self.about.epoch));
                #[cfg(not(feature = "signed"))]
                let raised: Result<(), store::FlashFailed> = Ok(());
                if raised.and_then(|()| next_image.keep()).is_err() {
                    log!(error, "that the image is kept could not be written");
                }
            }
            Deferred::KeepConfig => match store.keep() {
                Ok(()) => self.about.on_trial.set(false),
                Err(_) => log!(error, "the configuration could not be written"),
            },
            Deferred::WriteConfig { board_config, on_trial } => {
                match store.write_config(&board_config, on_trial, self.about.epoch) {
                    Ok(()) => {
                        log!(info, "the configuration is written");
                        return Some(Restart::Reconfigured);
                    }
                    Err(_) => log!(error, "the configuration could not be written"),
                }
            }
        }
        None
    }
}

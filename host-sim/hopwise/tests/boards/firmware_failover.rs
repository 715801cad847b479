//! A cable is cut under traffic, on emulated boards: both ends notice, and packets arrive by another path.

use hopwise_emulate::check::path;
use hopwise_emulator::time::{MILLISECOND, SECOND, Time};
use hopwise_emulator::world::Action;
use hopwise_node::wire::{Command, Pattern, Traffic};

use crate::firmware_programs::{example, order};
use crate::firmware_support::{Rig, port};

/// The trial that sends a hundred confirmed messages.
const CONFIRM: u8 = 6;
/// What took the cut cable has arrived by then.
const OLD_PATH: Time = 5 * MILLISECOND;

#[test]
fn traffic_goes_on_within_50_ms_of_a_cut() {
    let Some(trials) = example("trials") else { return };
    for expression in ["ring(5)", "torus(3,3)", "rdn(ring(3),1)"] {
        for is_confirmed in [false, true] {
            let mut rig = Rig::new(trials, expression).linked();
            let dest = rig.network.nodes() - 1;
            let next = path(&rig.network, 0, dest)[1];
            let link = rig.network.port_to(0, next).expect("nodes").expect("neighbors");
            rig.command(dest as usize, &Command::LogPackets(true));
            let cut = rig.world.now() + SECOND;
            rig.script(vec![(cut, Action::Cut(port(0, link as usize)))]);
            if is_confirmed {
                order(&mut rig, 0, CONFIRM, dest as u8);
            } else {
                let traffic = Traffic::new(200, 0, Pattern::Opposite, 32);
                rig.command(0, &Command::StartTraffic(traffic));
            }
            rig.run_for(3 * SECOND);
            let lines = rig.log();
            let after = |at: Time| (at - cut) as f64 / MILLISECOND as f64;
            let downs = lines.iter().filter(|line| line.text.starts_with("LinkDown"));
            let noticed: Vec<f64> = downs.map(|line| after(line.at)).collect();
            let arrived = lines.iter().find(|line| {
                let is_arrival = line.text.starts_with("Delivered { packet: PacketId { source: 0,");
                is_arrival && line.board == dest as usize && line.at > cut + OLD_PATH
            });
            let resumed = after(arrived.expect("it goes on").at);
            println!(
                "{expression}, confirmed {is_confirmed}: noticed after {noticed:.1?} ms, went on after {resumed:.1}"
            );
            assert!(noticed.len() == 2 && noticed.iter().all(|&after| after <= 20.0));
            assert!(resumed <= 50.0);
            if is_confirmed {
                let result = lines.iter().find_map(|line| line.text.strip_prefix("confirmed "));
                let result = result.expect("all are sent");
                assert!(result.starts_with("100 "), "{result}");
            }
        }
    }
}

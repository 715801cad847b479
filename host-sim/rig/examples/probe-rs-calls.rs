//! Prints every call of probe-rs that the rig makes, one a line, arguments apart by tabs: `tools/probe-rs` gives them to the real
//! program.

use std::ffi::OsStr;

use hopwise_rig::probe_rs::Call;

fn main() {
    for call in Call::samples() {
        let mut arguments = call.arguments();
        if let Call::Run(_) = call {
            // Which cargo adds.
            arguments.push("image.elf".into());
        }
        println!("{}", arguments.join(OsStr::new("\t")).display());
    }
}

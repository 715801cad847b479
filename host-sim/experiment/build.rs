//! The commit that results name.

fn main() {
    let origin = hopwise_origin::of(
        "host-sim/experiment/",
        "Cargo.lock app/src codec/src core/src emulator/src host-sim/emulate/src host-sim/experiment/src host-sim/language/src host-sim/load/src \
         host-sim/networks/src host-sim/sim/src host-sim/trace/src node/src",
    );
    let changes = if origin.changed { ", with changes" } else { "" };
    let commit = origin.commit.map_or("unknown".into(), |commit| commit + changes);
    println!("cargo::rustc-env=HOPWISE_COMMIT={commit}");
}

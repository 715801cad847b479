//! Programs of users outside the repository: `hopwise new-app`, and `--app` of the commands that run or flash images.

use hopwise_emulate::bench::{AppPort, Bench, SECOND};

use crate::python::follow_script;
use crate::running::new_app;
use crate::support::hopwise;

/// What each prints is also in the test that comes with it.
#[test]
fn examples_do_what_they_say() {
    let Some(app) = new_app() else { return };
    for (example, network, board, line) in [
        ("sensors", "rdn(ring(3),1)", 0, "node 17 has 217 tenths of a degree"),
        ("requests", "ring(4)", 0, "node 2 runs for"),
        ("streams", "ring(4)", 3, "2000 of 2000 letters came back in capitals"),
        ("collectives", "ring(4)", 1, "the mean of 4 boards is 15"),
    ] {
        let folder = app.folder.with_file_name(example);
        let made = hopwise(&["new-app", folder.to_str().expect("UTF-8"), "--example", example]);
        assert!(made.status.success(), "{made:?}");
        let mut bench = Bench::of_app(&folder, network).unwrap_or_else(|error| panic!("{example}: {error}"));
        bench.run_for(4 * SECOND);
        assert!(bench.count_lines(board, line) >= 1, "{example}");
        bench.assert_healthy();
    }
    let own = app.folder.join("target/thumbv7em-none-eabihf/release/deps");
    assert!(!own.exists(), "what the firmware has compiled is shared");
    let mut bench = Bench::of_app(&app.elf, "ring(4)").expect("boards");
    bench.at("5s press 1").expect("an event");
    bench.at("5200ms release 1").expect("another");
    let look = |_| {
        bench.run_for(SECOND / 50);
        bench.led(3)
    };
    let led: Vec<Option<bool>> = (0..400).map(look).collect();
    let changes = |led: &[Option<bool>]| led.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let (slow, fast) = (changes(&led[50..200]), changes(&led[250..]));
    assert!((2..=4).contains(&slow) && fast >= 8, "{slow} and {fast}");
    assert_eq!(bench.count_lines(3, "the button of node 1 was pressed"), 1);
}

#[test]
fn a_bench_tests_a_program() {
    let Some(app) = new_app() else { return };
    let mut bench = Bench::of_app(&app.elf, "ring(4)").expect("boards");
    // The cable between nodes 0 and 1.
    bench.at("2s cut 0.0").expect("an event");
    bench.at("2500ms reset 3").expect("another");
    bench.run_for(2 * SECOND + SECOND / 4);
    for node in 0..4 {
        assert_eq!(bench.count_lines(node, "hello from node"), 2, "node {node}");
        let doubled: u32 = bench.request(0, node as u64, AppPort(17), &21_u32).expect("a response");
        assert_eq!(doubled, 42);
    }
    let heard = bench.messages(0);
    let of_three = heard
        .iter()
        .filter(|message| (message.source, &message.bytes[..]) == (3, b"hello"));
    assert_eq!((heard.len(), of_three.count()), (8, 2));
    let unserved = bench
        .request::<_, u32>(0, 1, AppPort(99), &21_u32)
        .expect_err("nobody serves it");
    assert_eq!(unserved.to_string(), "the response is Some(PortUnreachable)");
    let late = bench.at("1s plug 0.0").expect_err("that is over").to_string();
    assert!(late.starts_with("1 s is over: it is 2."), "{late}");
    assert!(bench.led(2).is_some());
    bench.at("3s plug 0.0").expect("an event");
    bench.run_for(SECOND);
    let links = |bench: &mut Bench, what: &str| bench.count_lines(0, what);
    let found = bench.world.boards()[3].resets();
    assert_eq!(found, 1, "once, though there were more events since");
    assert!(links(&mut bench, "LinkDown") >= 1 && links(&mut bench, "LinkUp") >= 3);
    bench.assert_healthy();
    assert!(Bench::of_app(&app.elf, "ring(4").is_err());
    assert!(Bench::of_app_on("nucleo-f401re", &app.elf, "ring(4)").is_err());
}

#[test]
fn programs_are_built_run_and_refused() {
    let Some(app) = new_app() else { return };
    follow_script("new_app", &[("HOPWISE_TEST_APP", app.folder.display().to_string())]);
}

//! The page of `hopwise bench`. What the bench does is in `scripts/test_bench.py`.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::play::follow;
use crate::running::Ending;
use crate::support::{Folder, command};
use crate::view::browser::Browser;

#[test]
fn boards_are_plugged_in_with_mouse_and_keys() {
    let folder = Folder::new("bench-page");
    let mesh = folder.mesh("mesh.toml", "ring(3)", "");
    let mut bench = Ending::of(command(&["bench", &mesh, "--port", "0"]).stdout(Stdio::piped()));
    let mut said = BufReader::new(bench.0.stdout.take().expect("a pipe")).lines();
    let page = said.next().expect("a line").expect("text");
    let (page, _) = page.split_once(' ').expect("an address");
    let Some(mut browser) = Browser::start(&folder, "the page of the bench") else {
        return;
    };
    browser.open(page);
    browser.resize(1280, 1000);
    browser.evaluate(concat!(include_str!("play/selftest.js"), "; 0"));
    follow(&mut browser, include_str!("bench.txt"));
}

//! Lanes: which one a packet takes, and that each has room of its own.

use super::datagrams::{between, header, pass};
use super::harness::Mesh;
use crate::support::*;

#[test]
fn lanes_rise_where_the_route_turns() {
    let mut mesh = Mesh::new("ring(6)");
    let (down, up) = (mesh.impersonate(3, 2), mesh.impersonate(3, 4));
    assert!(mesh.run_until(SECOND, |mesh| mesh.board(3).router.all_links_up()));
    let lanes = virtual_channels::count(&mesh.network, Rule::Exact);
    assert_eq!(lanes, 8);
    let mut number = 0;
    for lane in 0..lanes {
        for (from, to, dest) in [(down, up, 4), (up, down, 2)] {
            number += 1;
            let sent = header(Kind::Datagram, if to == up { 2 } else { 4 }, dest, number);
            let (found, ..) = pass(&mut mesh, from, to, lane, &sent, b"");
            let rises = to == up;
            let stays = lane.is_multiple_of(2) == rises;
            let expected = if stays { lane } else { (lane + 1).min(lanes - 1) };
            assert_eq!(found, expected, "in lane {lane} to {dest}");
        }
    }
    // What begins here begins in the lane of its direction.
    for (to, dest, lane) in [(up, 4, 0), (down, 2, 1)] {
        let known = mesh.stranger(to).heard.len();
        mesh.send(3, dest, b"").unwrap();
        mesh.run(10 * MILLISECOND);
        assert_eq!(mesh.stranger(to).heard[known].lane, lane);
    }
    // Beyond the last lane there is no room.
    let refused = mesh
        .stranger(down)
        .fates
        .iter()
        .filter(|(_, fate)| *fate == Fate::Refused)
        .count();
    mesh.stranger_mut(down)
        .send(lanes, &header(Kind::Datagram, 2, 4, 99), b"");
    mesh.run(20 * MILLISECOND);
    let now_refused = mesh
        .stranger(down)
        .fates
        .iter()
        .filter(|(_, fate)| *fate == Fate::Refused)
        .count();
    assert!(now_refused > refused);
}

#[test]
fn the_lane_after_a_hop() {
    for (lane, begins, rises, expected) in [
        (5, true, true, 0),
        (5, true, false, 1),
        (0, false, true, 0),
        (0, false, false, 1),
        (1, false, false, 1),
        (1, false, true, 2),
        (6, false, true, 6),
        (6, false, false, 7),
        (7, false, true, 7),
        (7, false, false, 7),
    ] {
        assert_eq!(
            virtual_channels::next(lane, begins, rises, 8),
            expected,
            "{lane} {begins} {rises}"
        );
    }
    for (expression, lanes) in [
        ("path(2)", 6),
        ("complete(4)", 6),
        ("ring(6)", 8),
        ("hypercube(6)", 11),
        ("path(99)", 12),
    ] {
        assert_eq!(
            virtual_channels::count(&network(expression), Rule::Exact),
            lanes,
            "{expression}"
        );
    }
}

/// However full a board is of packets of one lane that cannot go on, every other lane still has room for one.
#[test]
fn each_lane_has_a_buffer_of_its_own() {
    let (mut mesh, one, three) = between();
    mesh.stranger_mut(three).takes = false;
    let lanes = virtual_channels::count(&mesh.network, Rule::Exact);
    for number in 0..40 {
        mesh.stranger_mut(one)
            .send(0, &header(Kind::Datagram, 0, 4, number), b"");
    }
    mesh.run(300 * MILLISECOND);
    let held = mesh.board(2).router.packets().count();
    assert_eq!(held, limits::LINK_SHARE);
    assert!(mesh.stranger(one).unsettled() > 20);
    for lane in 1..lanes {
        let before = mesh.board(2).router.packets().count();
        mesh.stranger_mut(one)
            .send(lane, &header(Kind::Datagram, 0, 4, 100 + u32::from(lane)), b"");
        mesh.run(100 * MILLISECOND);
        assert_eq!(mesh.board(2).router.packets().count(), before + 1, "lane {lane}");
    }
    // And what begins here finds room, too.
    assert!(mesh.send(2, 3, b"").is_ok());
    let held: Vec<_> = mesh.board(2).router.packets().collect();
    assert!(held.len() <= BUFFERS);
}

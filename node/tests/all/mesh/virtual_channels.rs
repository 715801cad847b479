//! Lanes: which one a packet takes, and that each has room of its own.

use super::datagrams::{between, header, pass};
use super::harness::Mesh;
use crate::support::*;

#[test]
fn virtual_channels_rise_where_the_route_turns() {
    let mut mesh = Mesh::new("ring(6)");
    let (down, up) = (mesh.impersonate(3, 2), mesh.impersonate(3, 4));
    assert!(mesh.run_until(SECOND, |mesh| mesh.board(3).router.all_links_up()));
    let channels = virtual_channels::count(&mesh.network, Rule::Exact);
    assert_eq!(channels, 8);
    let mut number = 0;
    for channel in 0..channels {
        for (from, to, dest) in [(down, up, 4), (up, down, 2)] {
            number += 1;
            let sent = header(Kind::Datagram, if to == up { 2 } else { 4 }, dest, number);
            let (found, ..) = pass(&mut mesh, from, to, channel, &sent, b"");
            let rises = to == up;
            let stays = channel.is_multiple_of(2) == rises;
            let next = (channel + 1).min(channels - 1);
            let expected = if stays { channel } else { next };
            assert_eq!(found, expected, "in virtual channel {channel} to {dest}");
        }
    }
    // What begins here begins in the virtual channel of its direction.
    for (to, dest, channel) in [(up, 4, 0), (down, 2, 1)] {
        let known = mesh.stranger(to).heard.len();
        mesh.send(3, dest, b"").unwrap();
        mesh.run(10 * MILLISECOND);
        assert_eq!(mesh.stranger(to).heard[known].channel, channel);
    }
    // Beyond the last virtual channel there is no room.
    let refused = mesh.stranger(down).refused();
    mesh.stranger_mut(down)
        .send(channels, &header(Kind::Datagram, 2, 4, 99), b"");
    mesh.run(20 * MILLISECOND);
    let now_refused = mesh.stranger(down).refused();
    assert!(now_refused > refused);
}

#[test]
fn the_virtual_channel_after_a_hop() {
    for (channel, begins, rises, expected) in [
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
        let found = virtual_channels::next(channel, begins, rises, 8);
        assert_eq!(found, expected, "{channel} {begins} {rises}");
    }
    for (expression, channels) in [
        ("path(2)", 6),
        ("complete(4)", 6),
        ("ring(6)", 8),
        ("hypercube(6)", 11),
        ("path(99)", 12),
    ] {
        let found = virtual_channels::count(&network(expression), Rule::Exact);
        assert_eq!(found, channels, "{expression}");
    }
}

/// However full a board is of packets of one virtual channel that cannot go on, every other virtual channel still has room for one.
#[test]
fn each_virtual_channel_has_a_buffer_of_its_own() {
    let (mut mesh, one, three) = between();
    mesh.stranger_mut(three).takes = false;
    let channels = virtual_channels::count(&mesh.network, Rule::Exact);
    for number in 0..40 {
        mesh.post(one, &header(Kind::Datagram, 0, 4, number), b"");
    }
    mesh.run(300 * MILLISECOND);
    let held = mesh.board(2).router.packets().count();
    assert_eq!(held, limits::LINK_SHARE);
    assert!(mesh.stranger(one).unsettled() > 20);
    for channel in 1..channels {
        let before = mesh.board(2).router.packets().count();
        mesh.stranger_mut(one)
            .send(channel, &header(Kind::Datagram, 0, 4, 100 + u32::from(channel)), b"");
        mesh.run(100 * MILLISECOND);
        let found = mesh.board(2).router.packets().count();
        assert_eq!(found, before + 1, "virtual channel {channel}");
    }
    // And what begins here finds room, too.
    assert!(mesh.send(2, 3, b"").is_ok());
    let held: Vec<_> = mesh.board(2).router.packets().collect();
    assert!(held.len() <= BUFFERS);
}

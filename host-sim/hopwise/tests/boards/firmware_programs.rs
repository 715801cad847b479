//! Programs of users on boards: the examples of the firmware, on emulated ones.

use hopwise_emulate::cost;
use hopwise_emulator::time::{MILLISECOND, SECOND};
use hopwise_node::wire::AppPort;

use crate::firmware_support::{Firmware, Rig, build, load, stock};

/// An example of the firmware, which has no room for more networks beside it; `None` if there is no ARM compiler.
pub(crate) fn example(name: &'static str) -> Option<&'static Firmware> {
    let image = stock().with_families(&["rdn", "rsn", "large-examples"]);
    Some(Box::leak(Box::new(load(build(&image.with_example(name)))?)))
}

pub(crate) fn lines(rig: &mut Rig) -> Vec<(usize, String)> {
    rig.log().into_iter().map(|line| (line.board, line.text)).collect()
}

/// Has a board begin a trial: see `firmware/examples/trials`.
pub(crate) fn order(rig: &mut Rig, board: usize, trial: u8, node: u8) {
    cost::order(&mut rig.world, &mut rig.hosts, board, trial, node).expect("the board answers");
}

/// Three hops lie between the two ends.
#[test]
fn sockets_of_ergot_speak_over_the_mesh() {
    let Some(firmware) = example("ergot") else { return };
    let mut rig = Rig::new(firmware, "path(4)");
    rig.run_for(3 * SECOND);
    let lines = lines(&mut rig);
    let of_first = lines.iter().filter(|(board, _)| *board == 0).map(|(_, text)| &text[..]);
    let responses: Vec<&str> = of_first.filter(|text| text.starts_with("twice ")).collect();
    let first = responses
        .first()
        .and_then(|line| line.split(' ').nth(1)?.parse::<u32>().ok());
    // The first request may be asked before the links are up.
    let begins = first.is_some_and(|first| first <= 1);
    assert!(begins && responses.len() >= 4, "{lines:?}");
    for (&response, number) in responses.iter().zip(first.unwrap_or(0)..) {
        assert_eq!(response, format!("twice {number} is {}", 2 * number));
    }
    rig.assert_healthy();
}

/// Two hosts, far apart, speak with each other, and a third hears both.
#[test]
fn hosts_at_two_boards_chat() {
    let Some(firmware) = example("chat") else { return };
    const CHAT: AppPort = AppPort(16);
    const NAME: AppPort = AppPort(17);
    let mut rig = Rig::new(firmware, "path(4)").linked();
    // One has a name, which its board asks for, and the other has none.
    rig.hosts.take_requests(0);
    rig.hosts.send(0, 0, CHAT, b"is anyone there?");
    rig.run_for(100 * MILLISECOND);
    let requests = rig.hosts.messages(0);
    let [request] = &requests[..] else {
        panic!("not one request: {requests:?}")
    };
    assert_eq!((request.source, request.port, request.from_host), (0, NAME, false));
    rig.hosts.respond(0, request, b"Ada");
    rig.run_for(200 * MILLISECOND);
    rig.hosts.send(3, 3, CHAT, b"yes, at the other end");
    rig.run_for(200 * MILLISECOND);
    let heard: Vec<Vec<String>> = (0..4)
        .map(|board| {
            let messages = rig.hosts.messages(board).into_iter();
            let of_chat = messages.filter(|message| message.port == CHAT);
            of_chat
                .map(|message| String::from_utf8(message.bytes).expect("text"))
                .collect()
        })
        .collect();
    let (request, response) = ("Ada: is anyone there?", "3: yes, at the other end");
    assert_eq!(
        heard,
        [
            vec![response],
            vec![request, response],
            vec![request, response],
            vec![request]
        ]
    );
    rig.assert_healthy();
}

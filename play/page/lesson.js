// The lesson: ten steps, as in the book's first chapter. Each says what to do, notices when it is done, and can do it itself.

const dualNet = "rdn(ring(3),1)";
const has = (test) => [...mesh.packets.values()].some(test);
const arrivedAt = (source, dest) => has((packet) => packet.source === source && packet.dest === dest && packet.delivered.has(dest));

const lessons = [
  { title: "Three boards", network: "ring(3)", tool: "send", from: 0,
    text: "Three boards in a ring, each with two cables and an address, 0 to 2. To reach another board, a board sends on the link to that neighbor. Each runs the same router as a real board.",
    task: "Send a packet from board 0 to board 2: click board 2.", act: () => act("d0.2"), done: () => arrivedAt(0, 2) },
  { title: "Six rings", network: dualNet, tool: "look",
    text: "Six such rings, and a third cable for every board. An address now has three digits: the type of the ring, its number, and the place in it. The third cable swaps the last two and changes the type: a recursive dual-net.",
    task: "Click board 14, and compare its address with its neighbors'.", act: () => select(14), done: () => state.selected === 14 },
  { title: "The next hop, from two addresses", network: dualNet, tool: "send", from: 0,
    text: "There are no tables. Board 0, (0,0,0), has a packet for board 17, (1,2,2). Each board on the way evaluates the same function on two addresses, its own and the destination's.",
    task: "Send from board 0 to board 17, and watch the digits turn green.", act: () => { state.to = 17; send(); }, done: () => arrivedAt(0, 17) },
  { title: "Event by event", network: dualNet, tool: "send", from: 0, begin: () => setPlaying(false),
    text: "A frame of this packet takes 0.4 ms on the wire; here it is more than a thousand times slower. You can also advance event by event.",
    task: "Send any packet, and press Step until it has arrived.", act: () => { if (!mesh.busy) { state.to = 8; send(); } for (let i = 0; i < 12; i++) step(); },
    done: () => state.steps >= 4 && has((packet) => packet.delivered.size > 0) },
  { title: "To all", network: dualNet, tool: "broadcast", begin: () => setPlaying(true),
    text: "From its own address and the source's, a board computes which neighbors to forward a broadcast to, so that every board receives it once. The colors are the distance from the source.",
    task: "Broadcast from board 0.", act: () => act("b0"), done: () => has((packet) => packet.kind === "broadcast" && packet.delivered.size === 17) },
  { title: "A cable breaks", network: dualNet, tool: "cut",
    text: "The routing function cannot see a cut cable. The boards at its ends can, because the other one goes silent: after a few milliseconds they consider the link down.",
    task: "Cut the cable between boards 2 and 15, and wait until both have noticed.", act: () => act(`x${linkBetween(2, 15)}`), done: () => mesh.cut.has(linkBetween(2, 15)) && mesh.stateOf(linkBetween(2, 15)) === "dead" },
  { title: "The detour", network: dualNet, keep: true, tool: "send", from: 0,
    begin: () => { if (!mesh.cut.has(linkBetween(2, 15))) act(`x${linkBetween(2, 15)}`); },
    text: "The computed route from 0 to 17 goes over that cable. The board before the cut sends the packet another way, and the packet records the boards it has visited, so it cannot loop.",
    task: "Send from board 0 to board 17 again.", act: () => { state.to = 17; send(); }, done: () => has((packet) => packet.detours > 0 && packet.dest === 17 && packet.delivered.has(17)) },
  { title: "A board dies", network: dualNet, tool: "send", from: 0, begin: () => act("k2"),
    text: "Board 2 is off now, with all its cables. A confirmed packet is delivered exactly once and acknowledged: if it is lost, its sender retransmits it.",
    task: "Send a confirmed packet from board 0 to board 17.", act: () => { state.confirmed = true; state.to = 17; send(); }, done: () => has((packet) => packet.kind === "confirmed" && packet.dest === 17 && packet.delivered.has(17)) },
  { title: "Larger", network: "rdn(ring(3),2)", tool: "send", from: 0,
    text: "The dual-net of that dual-net: 648 boards with four cables each, and still no table. No board knows more than before; the routing function has a few more steps.",
    task: "Send from board 0 to board 647. Skip ahead, if you like.", act: () => { state.to = 647; send(); skip(); }, done: () => arrivedAt(0, 647) },
  { title: "Together", network: dualNet, tool: "collective",
    text: "Schedules of collectives are computed from addresses, too: here the sum of all numbers reaches every board in four rounds, the distance to the farthest board. Next: hopwise emulate runs the firmware of real boards, and the book shows how to wire them.",
    task: "Run all-reduce.", act: () => { state.operation = "all-reduce"; collective.run("all-reduce"); }, done: () => collective.done?.report.op === "all-reduce" && collective.over },
];

/** Goes to a step of the lesson, from 0; -1 ends it. */
function teach(step, restored = false) {
  state.lesson = step;
  state.lessonDone = false;
  byId("lesson-button").setAttribute("aria-pressed", step >= 0);
  if (step >= 0) {
    const { network, keep, tool, from, begin } = lessons[step];
    if (!restored) {
      if (!keep || data.network !== network) openNetwork(network);
      state.confirmed = false;
      state.steps = 0;
      if (from !== undefined) state.from = from;
      state.selected = -1;
      setTool(tool);
      begin?.();
    }
    say(`Step ${step + 1} of ${lessons.length}: ${lessons[step].title}. ${lessons[step].text} ${lessons[step].task}`);
  }
  changed();
}

function showLesson() {
  const step = state.lesson, lesson = lessons[step];
  if (lesson && !state.lessonDone && lesson.done()) {
    state.lessonDone = true;
    say(`Done. ${step + 1 < lessons.length ? "Next goes on." : "That was the lesson."}`);
  }
  fill("lesson", lesson ? [step, state.lessonDone] : null, () => [
    element("h2", {}, `${step + 1}. ${lesson.title}`, element("small", {}, `of ${lessons.length}`)),
    element("p", {}, lesson.text),
    element("p", { class: state.lessonDone ? "task done" : "task" }, lesson.task),
    element("progress", { max: lessons.length, value: step + (state.lessonDone ? 1 : 0), "aria-label": "Progress of the lesson" }),
    element("div", { class: "do" },
      button("back", "Back", () => teach(step - 1), step ? {} : { disabled: "" }),
      button("next", step + 1 < lessons.length ? "Next" : "End", () => teach(step + 1 < lessons.length ? step + 1 : -1), state.lessonDone ? { class: "main" } : {}),
      button("do", "Do it for me", () => { lesson.act(); changed(); }))]);
}

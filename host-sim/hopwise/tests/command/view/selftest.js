// What a person does with the page, done by a script in it. The test beside this file evaluates `selftest()`.

const findings = [];
const expect = (what, holds) => { if (!holds) findings.push(what); };
const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** How many dots of the mesh are not empty. */
function painted() {
  const { data: dots } = context.getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let i = 3; i < dots.length; i += 4) if (dots[i] > 0) count++;
  return count;
}

function clickOnNode(node, shiftKey = false) {
  const { left, top } = canvas.getBoundingClientRect();
  const [x, y] = camera.toScreen(...data.places[node]);
  const at = { clientX: left + x, clientY: top + y, bubbles: true, shiftKey };
  canvas.dispatchEvent(new PointerEvent("pointermove", at));
  canvas.dispatchEvent(new PointerEvent("pointerdown", at));
  canvas.dispatchEvent(new PointerEvent("pointerup", at));
}

const tab = (mode) => document.querySelector(`[data-mode="${mode}"]`).click();
const selectionText = () => document.getElementById("selection").textContent;

async function tryReplay() {
  timeline.play(false);
  timeline.seek(trace.start);
  playButton.click();
  const before = state.time;
  for (let i = 0; i < 50 && state.time === before; i++) await wait(100);
  expect("play moves the time", state.playing && state.time > before);
  expect("the slider follows", Number(slider.value) > before);
  playButton.click();
  const paused = state.time;
  await wait(300);
  expect("pause holds the time", !state.playing && state.time === paused);

  clickOnNode(5);
  expect("a click selects a node", state.selected === 5 && selectionText().includes("Node 5"));
  expect("hovering tells of the node", document.getElementById("hint").textContent.includes("Node 5"));
  const neighbors = document.querySelectorAll("#neighbors button");
  expect("all neighbors are listed", neighbors.length === data.neighbors[5].length);
  neighbors[0].click();
  expect("a neighbor can be selected", state.selected === data.neighbors[5][0]);

  const box = document.getElementById("latency-plot").getBoundingClientRect();
  const [x, y] = plotPlace(timed[0], box.width, box.height);
  document.getElementById("latency-plot").dispatchEvent(new MouseEvent("click", { clientX: box.left + x, clientY: box.top + y }));
  expect("a packet can be chosen", state.chosen !== null && selectionText().includes(String(state.chosen.number)));

  timeline.seek(trace.length);
  const end = { totals: { ...counters.totals }, links: counters.links.map((link) => ({ ...link })) };
  const middle = trace.packets[trace.packets.length >> 1].accepted;
  timeline.seek(middle);
  const begun = trace.packets.filter((packet) => packet.accepted !== null && packet.accepted <= middle).length;
  expect("counters go back with the time", counters.totals.accepted === begun && begun < trace.packets.length);
  timeline.seek(trace.length);
  expect("counters are the same after going back", JSON.stringify(end.totals) === JSON.stringify(counters.totals));
  return end;
}

async function tryTreeAndRoute() {
  tab("broadcast");
  clickOnNode(3);
  expect("the broadcast begins at the node clicked", state.tree.source === 3);
  expect("the tree reaches all", state.tree.depth.every((depth) => depth >= 0));
  timeline.seek(timeline.length);
  draw();
  expect("the tree is painted", painted() > 1000);
  tab("route");
  clickOnNode(1, true);
  clickOnNode(nodeCount - 1);
  expect("the route joins the nodes clicked", state.path[0] === 1 && state.path[state.path.length - 1] === nodeCount - 1);
  return { depth: state.tree.deepest, path: state.path };
}

async function selftest() {
  await wait(200);
  expect("the mesh is painted", painted() > 1000);
  const found = { findings, nodes: nodeCount };
  if (trace) found.end = await tryReplay();
  Object.assign(found, await tryTreeAndRoute());
  const theme = document.documentElement.dataset.theme;
  document.getElementById("theme").click();
  expect("the theme changes", document.documentElement.dataset.theme !== theme);
  if (trace) { tab("replay"); expect("one can go back to the replay", state.mode === "replay"); }
  return found;
}

// The page's state, and what a person does with it.

const state = {
  mode: "replay",
  time: 0, speed: 0.01, step: 0, stepSpeed: 1.5, playing: false,
  selected: -1, chosen: null, overNode: -1, overLink: -1,
  source: 0, tree: broadcastTree(0), from: 0, to: nodeCount - 1, path: route(0, nodeCount - 1),
  dirty: true,
};

function setMode(mode) {
  state.mode = mode;
  state.step = 0;
  document.documentElement.dataset.showing = mode;
  if (mode === "broadcast") { state.tree = broadcastTree(state.source); state.selected = state.source; }
  if (mode === "route") { state.path = route(state.from, state.to); state.selected = state.to; }
  document.querySelectorAll("#modes button").forEach((button) =>
    button.setAttribute("aria-pressed", button.dataset.mode === mode));
  showLegend();
  drawDensity();
  timeline.play(mode === "broadcast" || mode === "route");
  timeline.show();
  showPanel();
  say(`${mode}: ${byId("selection").querySelector("h2")?.textContent ?? ""}`);
  state.dirty = true;
}

/** Tells those who listen what has changed. */
function say(text) {
  byId("said").textContent = text;
}

/** A node was clicked. */
function select(node, shift = false) {
  state.chosen = null;
  if (state.mode === "broadcast" && node >= 0) { state.source = node; return setMode("broadcast"); }
  if (state.mode === "route" && node >= 0) { state[shift ? "from" : "to"] = node; return setMode("route"); }
  state.selected = node;
  showPanel();
  if (node >= 0) say(`Node ${node}, neighbors ${data.neighbors[node].join(", ")}`);
  state.dirty = true;
}

/** A packet is followed. */
function choose(packet) {
  state.chosen = packet;
  if (packet && packet.accepted !== null) timeline.seek(packet.delivered ?? packet.accepted);
  showPanel();
  state.dirty = true;
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  readTheme();
  showLegend();
  drawDensity();
  showPanel();
  state.dirty = true;
}


let drag = null;
canvas.addEventListener("pointerdown", (event) => {
  drag = { at: pointOf(event), moved: false };
});
canvas.addEventListener("pointermove", (event) => {
  if (drag) return;
  const [x, y] = pointOf(event);
  state.overNode = nodeAt(x, y);
  state.overLink = state.overNode < 0 ? linkAt(x, y) : -1;
  canvas.classList.toggle("over", state.overNode >= 0);
  showHint(x, y);
  state.dirty = true;
});
// A drag goes on outside of the canvas.
window.addEventListener("pointermove", (event) => {
  if (!drag) return;
  const [x, y] = pointOf(event);
  const [dx, dy] = [x - drag.at[0], y - drag.at[1]];
  if (drag.moved || Math.hypot(dx, dy) > 4) {
    camera.pan(dx, dy);
    drag = { at: [x, y], moved: true };
    state.dirty = true;
  }
});
window.addEventListener("pointerup", (event) => {
  if (drag && !drag.moved) {
    const node = nodeAt(...pointOf(event));
    if (node >= 0 || state.mode === "replay") select(node, event.shiftKey);
  }
  drag = null;
});

byId("latency-plot").addEventListener("click", (event) => {
  const box = event.currentTarget.getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  let best = null, least = 144;
  for (const packet of timed) {
    const [px, py] = plotPlace(packet, box.width, box.height);
    const d = (px - x) ** 2 + (py - y) ** 2;
    if (d < least) { least = d; best = packet; }
  }
  choose(best);
});

byId("modes").addEventListener("click", (event) => {
  if (event.target.dataset.mode) setMode(event.target.dataset.mode);
});
byId("theme").addEventListener("click", () => setTheme(theme.dark ? "light" : "dark"));
playButton.addEventListener("click", () => timeline.play(!state.playing));
slider.addEventListener("input", () => { timeline.play(false); timeline.seek(Number(slider.value)); showPanel(); });
byId("slower").addEventListener("click", () => timeline.pace(1));
byId("faster").addEventListener("click", () => timeline.pace(-1));
document.addEventListener("keydown", (event) => {
  if (event.target.tagName === "INPUT" && event.target !== slider) return;
  // A space presses the button that has the focus.
  if (event.key === " " && !["BUTTON", "SUMMARY"].includes(event.target.tagName)) { event.preventDefault(); timeline.play(!state.playing); }
  if (event.key === "Escape") { state.chosen = null; select(-1); }
  if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
    if (event.target === slider) return;
    timeline.play(false);
    const unit = state.mode === "replay" ? state.speed * 1e5 : 1;
    timeline.seek(timeline.now + (event.key === "ArrowRight" ? unit : -unit));
    showPanel();
  }
});
// A canvas is empty once its size has changed, so it is drawn at once.
new ResizeObserver(() => { camera.resize(); drawDensity(); draw(); }).observe(canvas.parentElement);

// What is being pressed, or is under the keyboard, must not be replaced.
const aside = document.querySelector("aside");
let pressed = false;
aside.addEventListener("pointerdown", () => { pressed = true; });
window.addEventListener("pointerup", () => setTimeout(() => { pressed = false; }));
const inUse = () => pressed || aside.querySelector(":focus-visible") !== null;

let before = 0, panelAt = 0;
function frame(now) {
  const seconds = Math.min(0.1, (now - before) / 1000);
  before = now;
  if (state.playing) timeline.advance(seconds);
  if (state.dirty) {
    state.dirty = false;
    draw();
    // Tables need not change with every picture.
    if (state.mode === "replay" && trace && now - panelAt > 150 && !inUse()) { panelAt = now; showPanel(); }
  }
  requestAnimationFrame(frame);
}

function begin() {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
  dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
  readTheme();
  byId("network").textContent = data.network;
  const facts = [`${nodeCount} nodes`, `${data.links.length} links`];
  if (trace) {
    const shown = trace.packets.length;
    facts.push(shown < trace.packetsInAll ? `the first ${shown} of ${trace.packetsInAll} packets` : `${shown} packets`,
      `${(trace.length / 1e6).toFixed(3)} s`);
    if (trace.baud) facts.push(`${trace.baud} bits/s`);
    state.speed = goodSpeed();
  }
  byId("facts").textContent = facts.join(" · ");
  document.querySelector('[data-mode="replay"]').disabled = !trace;
  document.querySelector('[data-mode="wiring"]').hidden = !wired;
  canvas.setAttribute("aria-label", `A drawing of ${data.network}: ${facts.join(", ")}. The details beside it say the same in words.`);
  camera.resize();
  setMode(trace ? "replay" : wired ? "wiring" : "broadcast");
  if (trace) timeline.seek(trace.start);
  timeline.play(!window.matchMedia("(prefers-reduced-motion: reduce)").matches);
  showPanel();
  requestAnimationFrame((now) => { before = now; frame(now); });
}
begin();

// The page's state, time, and what a person does.

/** For those who want no motion, everything is skipped to its end. */
const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
const operations = ask("operations");
const networks = [["ring(8)", "a ring"], ["torus(5,5)", "a torus"], ["hypercube(5)", "a hypercube"], ["rdn(ring(3),1)", "a recursive dual-net"], ["rdn(ring(3),2)", "its dual-net, 648 boards"],
  ["re(ring(4),complete(3),2)", "a recursive expansion"], ["rsn(2,ring(6))", "a recursive swapped network"], ["rcr(3,3,1)", "recursive cubes of rings"], ["root-folded(petersen,2)", "a root-folded network"], ["heawood", "the Heawood graph"], ["torus(22,23)", "506 boards"]];

const state = {
  tool: "send", from: 0, to: -1, confirmed: false, operation: "all-reduce",
  selected: -1, overNode: -1, overLink: -1, cursor: -1,
  /** The route from and to, as the engine computes it. */
  route: null,
  playing: true, skipping: false, steps: 0,
  /** Seconds of the mesh in a second of the screen, and how much faster time goes while no packet is on a wire. */
  speed: 1 / 1500, quiet: 1,
  lesson: -1, lessonDone: false,
  dirty: true, stale: true,
};

/** Tells those who listen what has changed. */
const say = (text) => { byId("said").textContent = text; };

/** Something that is shown has changed. */
function changed() {
  const { from, to } = state, last = data.places.length - 1;
  if (from > last) state.from = 0;
  if (to > last || to < 0) state.to = last;
  const wanted = [data.network, state.from, state.to].join(" ");
  if (state.from >= 0 && state.routeOf !== wanted) {
    state.routeOf = wanted;
    state.route = ask("route", { network: data.network, from: state.from, to: state.to });
    state.route.links = state.route.path.slice(1).map((node, hop) => linkBetween(state.route.path[hop], node));
  }
  state.dirty = state.stale = true;
}

function openNetwork(expression) {
  const field = byId("expression");
  try {
    mesh.open(expression);
  } catch (error) {
    field.setAttribute("aria-invalid", "true");
    report(null, `${error.message}.`, "bad");
    return false;
  }
  field.setAttribute("aria-invalid", "false");
  field.value = data.network;
  byId("log").replaceChildren();
  collective.end();
  flashes = [];
  Object.assign(state, { from: 0, to: data.places.length - 1, selected: -1, overNode: -1, overLink: -1, cursor: -1, skipping: false });
  camera.moved = false;
  camera.resize();
  showFacts();
  showHint(0, 0);
  report(null, `${data.network}: ${data.figures.nodes} boards, all links are up.`);
  changed();
  share.write();
  return true;
}

/** Does something to the mesh, and lets time go on. */
function act(code) {
  collective.end();
  try {
    mesh.act(code);
  } catch (error) {
    return report(mesh.now / 1e9, `${error.message}.`, "bad");
  }
  state.quiet = 1;
  if (still) skip();
  share.write();
  changed();
}

function send() {
  if (state.from >= 0) act(`${state.confirmed ? "c" : "d"}${state.from}.${state.to}`);
}

function restoreAll() {
  [...mesh.cut].forEach((link) => act(`p${link}`));
  [...mesh.off].forEach((board) => act(`r${board}`));
}

function select(node) {
  state.selected = node;
  if (node >= 0) say(`Board ${node}, address ${data.addresses[node]}, neighbors ${data.neighbors[node].slice(0, 32).join(", ")}`);
  changed();
}

/** The tool is used on a board, or on a cable. */
function use(node, link) {
  if (node >= 0 && state.tool === "send") {
    if (node === state.from) state.from = -1;
    else if (state.from < 0) state.from = node;
    else { state.to = node; changed(); send(); }
  } else if (node >= 0 && state.tool === "broadcast") { state.from = node; act(`b${node}`); }
  else if (node >= 0 && state.tool === "cut") act(`${mesh.off.has(node) ? "r" : "k"}${node}`);
  else if (link >= 0 && state.tool === "cut") act(`${mesh.cut.has(link) ? "p" : "x"}${link}`);
  else select(node);
  changed();
}

function setTool(tool) {
  state.tool = tool;
  if (tool !== "collective") collective.end();
  document.querySelectorAll("#tools button").forEach((one) => one.setAttribute("aria-pressed", one.dataset.tool === tool));
  canvas.classList.toggle("breaks", tool === "cut");
  changed();
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  readTheme();
  theme.detour = getComputedStyle(document.documentElement).getPropertyValue("--detour").trim();
  showFacts();
  changed();
}

// Time.

function setPlaying(playing) {
  state.playing = playing;
  state.skipping = false;
  byId("play").classList.toggle("playing", playing);
  state.dirty = true;
}

/** Goes on by one event, or one round. */
function step() {
  setPlaying(false);
  state.steps++;
  if (collective.done) collective.advance(1 - collective.at % 1);
  else if (mesh.busy) mesh.advance(mesh.now + 1e9, true);
  changed();
}

function skip() {
  if (collective.done) collective.advance(Infinity);
  else state.skipping = true;
  changed();
}

const MAX_SKIP = 5e9;
let skipFrom = 0;

/** Lets time go on for so many seconds of the screen. Where nothing is on a wire, it goes faster and faster. */
function carryOn(seconds) {
  if (collective.done) {
    if (state.playing) collective.advance(seconds * Math.min(8, state.speed * 1200));
    return;
  }
  if (state.skipping) {
    const end = performance.now() + 25;
    skipFrom ||= mesh.now;
    while (mesh.busy && performance.now() < end) mesh.advance(mesh.now + 2e6);
    if (!mesh.busy || mesh.now - skipFrom > MAX_SKIP) { state.skipping = false; skipFrom = 0; share.write(); }
    return changed();
  }
  if (!state.playing || !mesh.busy) return;
  const onWire = mesh.frames.length > 0;
  state.quiet = onWire ? 1 : Math.min(2000, state.quiet * 1.12 + 1);
  mesh.advance(mesh.now + seconds * state.speed * state.quiet * 1e9, !onWire);
  if (!mesh.busy) share.write();
  changed();
}

function showTime() {
  const rounds = collective.done?.rounds.length;
  byId("clock").textContent = rounds ? `round ${Math.min(rounds, Math.floor(collective.at) + 1)} of ${rounds}` : `${((mesh.now - mesh.begin) / 1e6).toFixed(2)} ms`;
  byId("status").textContent = rounds ? (collective.over ? "done" : "") : !mesh.busy ? "Nothing is in flight: time stands still." : state.skipping ? "Skipping ahead…"
    : !state.playing ? "Paused." : mesh.frames.length ? "" : "Waiting, time goes faster…";
  byId("speed").textContent = `slowed ${Math.round(1 / state.speed)}×`;
}

// The share link: the network, and what was done to it when. The engine is deterministic, so that this is all of its state.

const share = {
  write() {
    const parts = { n: data.network, do: mesh.actions.map(([at, code]) => `${code}@${at}`).join(","), t: mesh.now - mesh.begin, tool: state.tool, from: state.from, to: state.to };
    if (state.lesson >= 0) parts.lesson = state.lesson + 1;
    this.written = `#${new URLSearchParams(parts)}`;
    history.replaceState(null, "", this.written);
  },

  /** Brings the mesh to where a link says it was. */
  read() {
    const parts = new URLSearchParams(location.hash.slice(1));
    if (!openNetwork(parts.get("n") ?? dualNet) && !openNetwork(dualNet)) return;
    const goTo = (at) => { const until = mesh.begin + Math.min(Number(at) || 0, 60e9); while (mesh.now < until) mesh.advance(until); };
    for (const entry of (parts.get("do") ?? "").split(",").filter(Boolean).slice(0, 1000)) {
      const [code, at] = entry.split("@");
      goTo(at);
      try { mesh.act(code); } catch (error) { report(mesh.now / 1e9, `${error.message}.`, "bad"); }
    }
    goTo(parts.get("t"));
    const board = (name, otherwise) => (/^\d+$/.test(parts.get(name) ?? "") ? Number(parts.get(name)) : otherwise);
    state.from = board("from", 0);
    state.to = board("to", data.places.length - 1);
    setTool(parts.get("tool") in toolNotes ? parts.get("tool") : "send");
    const lesson = board("lesson", 0);
    if (lesson >= 1 && lesson <= lessons.length) teach(lesson - 1, true);
    changed();
    this.write();
  },
};

// What a person does.

const pointers = new Map();
let dragged = false;
canvas.addEventListener("pointerdown", (event) => {
  if (!pointers.size) dragged = false;
  pointers.set(event.pointerId, pointOf(event));
});
window.addEventListener("pointermove", (event) => {
  const before = pointers.get(event.pointerId), [x, y] = pointOf(event);
  if (!before) return;
  const others = [...pointers].filter(([id]) => id !== event.pointerId);
  if (others.length) {
    const [ox, oy] = others[0][1], ratio = Math.hypot(x - ox, y - oy) / (Math.hypot(before[0] - ox, before[1] - oy) || 1);
    camera.zoom(ratio, (x + ox) / 2, (y + oy) / 2);
  } else if (dragged || Math.hypot(x - before[0], y - before[1]) > 4) camera.pan(x - before[0], y - before[1]);
  else return;
  dragged = true;
  pointers.set(event.pointerId, [x, y]);
  state.dirty = true;
});
for (const end of ["pointerup", "pointercancel"]) {
  window.addEventListener(end, (event) => {
    const pressed = pointers.delete(event.pointerId);
    if (!pressed || dragged || end === "pointercancel") return;
    const [x, y] = pointOf(event), node = nodeAt(x, y);
    use(node, node < 0 ? linkAt(x, y) : -1);
  });
}
canvas.addEventListener("pointermove", (event) => {
  if (pointers.size || event.pointerType === "touch") return;
  const [x, y] = pointOf(event);
  state.overNode = nodeAt(x, y);
  state.overLink = state.overNode < 0 ? linkAt(x, y) : -1;
  canvas.classList.toggle("over", state.overNode >= 0);
  showHint(x, y);
  state.dirty = true;
});

/** The board nearest in a direction, for the arrow keys. */
function neighborTowards(node, [dx, dy]) {
  if (node < 0) return Math.max(0, state.from);
  const [x, y] = data.places[node];
  let best = node, least = Infinity;
  data.places.forEach(([px, py], other) => {
    const along = (px - x) * dx + (py - y) * dy, aside = Math.abs((px - x) * dy) + Math.abs((py - y) * dx);
    if (along > 1e-6 && along + 2 * aside < least) { least = along + 2 * aside; best = other; }
  });
  return best;
}
const directions = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
canvas.addEventListener("keydown", (event) => {
  if (directions[event.key]) {
    event.preventDefault();
    state.cursor = neighborTowards(state.cursor, directions[event.key]);
    say(`Board ${state.cursor}, address ${data.addresses[state.cursor]}${mesh.off.has(state.cursor) ? ", switched off" : ""}`);
    state.dirty = true;
  }
  if (event.key === "Enter" && state.cursor >= 0) use(state.cursor, -1);
});
document.addEventListener("keydown", (event) => {
  if (event.target.closest("input:not([type=range]), select") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === " " && !event.target.closest("button, summary")) { event.preventDefault(); setPlaying(!state.playing); }
  if (event.key === ".") step();
  if (event.key === "s" || event.key === "S") skip();
  if (event.key === "Escape") select(-1);
});

byId("open").addEventListener("submit", (event) => {
  event.preventDefault();
  if (openNetwork(byId("expression").value)) teach(-1);
});
// Choosing from the list is enough.
byId("expression").addEventListener("input", (event) => {
  if (networks.some(([name]) => name === event.target.value) && event.inputType !== "insertText" && openNetwork(event.target.value)) teach(-1);
});
byId("expression").addEventListener("focus", (event) => event.target.select());
byId("tools").addEventListener("click", (event) => {
  const chosen = event.target.closest("[data-tool]");
  if (chosen) setTool(chosen.dataset.tool);
});
byId("lesson-button").addEventListener("click", () => { teach(state.lesson < 0 ? 0 : -1); share.write(); });
byId("share").addEventListener("click", async () => {
  share.write();
  try {
    await navigator.clipboard.writeText(location.href);
    report(null, "The link to this mesh is copied.", "good");
  } catch {
    report(null, "The address of this page is the link to this mesh: copy it from the address bar.");
  }
});
/** All events, as other commands read them. */
const savedTrace = () => [JSON.stringify({ version: 1, network: data.network, nodes: data.places.length }), ...mesh.trace, ""].join("\n");
byId("save").addEventListener("click", () => {
  const file = URL.createObjectURL(new Blob([savedTrace()], { type: "application/jsonl" }));
  const link = element("a", { download: "trace.jsonl" });
  link.href = file;
  link.click();
  URL.revokeObjectURL(file);
  report(null, "The events are saved: hopwise view trace.jsonl replays them.");
});
byId("theme").addEventListener("click", () => setTheme(theme.dark ? "light" : "dark"));
byId("play").addEventListener("click", () => setPlaying(!state.playing));
byId("step").addEventListener("click", step);
byId("skip").addEventListener("click", skip);
byId("speeds").addEventListener("input", (event) => { state.speed = speedAt(Number(event.target.value)); state.dirty = true; });
for (const kind of ["focus", "blur"]) canvas.addEventListener(kind, () => { state.dirty = true; });
window.addEventListener("hashchange", () => { if (location.hash !== share.written) share.read(); });
new ResizeObserver(() => { camera.resize(); draw(); }).observe(canvas.parentElement);

/** From 20,000 times slower than a mesh to 20 times. */
const speedAt = (place) => 1 / (20000 * 0.001 ** (place / 100));

let before = 0, panelAt = 0;
/** The time that the last drawn frame took, in milliseconds, for tests. */
let frameTime = 0;
function frame(now) {
  const begun = performance.now(), seconds = Math.min(0.1, (now - before) / 1000);
  before = now;
  carryOn(seconds);
  if (state.dirty || flashes.length) {
    state.dirty = false;
    draw();
    showTime();
    if (state.stale && now - panelAt > 120) { panelAt = now; state.stale = false; showPanel(); }
    state.dirty ||= state.stale;
    frameTime = performance.now() - begun;
  }
  requestAnimationFrame(frame);
}

byId("networks").append(...networks.map(([name, what]) => element("option", { value: name }, what)));
const dark = window.matchMedia("(prefers-color-scheme: dark)");
dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
byId("speeds").value = 100 * Math.log(20000 * state.speed) / Math.log(1000);
document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
readTheme();
share.read();
setTheme(document.documentElement.dataset.theme);
setPlaying(true);
requestAnimationFrame((now) => { before = now; frame(now); });

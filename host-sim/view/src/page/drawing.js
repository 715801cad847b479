// The mesh on its canvas, as it is at the time shown.

function draw() {
  clear();
  drawLinks();
  const marked = new Map();
  if (state.mode === "broadcast") drawBroadcast(marked);
  if (state.mode === "route") drawRoute(marked);
  if (state.mode === "wiring") drawWiring(marked);
  if (state.mode === "replay") drawReplayLinks(marked);
  // Packets go in and out below the nodes, so that these can be read.
  if (state.mode === "replay" && trace) drawPackets();
  drawNodes(marked);
  if (state.mode === "replay" && trace) drawFlashes();
}

const linksByKind = data.link_kinds.map((_, kind) =>
  data.links.map((link, index) => [link[2], index]).filter(([k]) => k === kind).map(([, index]) => index));

function drawLinks() {
  const width = Math.max(0.7, Math.min(2.4, camera.scale / 26));
  // Many long links at once would be a carpet.
  const crowd = data.links.length > 400 ? 0.45 : 0.8;
  const behind = state.mode === "replay" && !state.chosen ? 1 : 0.7;
  for (let kind = linksByKind.length - 1; kind >= 0; kind--) {
    strokeLinks(linksByKind[kind], linkColor(kind), width, (kind === 0 ? 0.95 : crowd) * behind);
  }
  if (state.overLink >= 0) strokeLinks([state.overLink], theme.text, width + 1.5);
}

/** Load and failures of links, and the way of a chosen packet. */
function drawReplayLinks(marked) {
  if (!trace) return;
  const most = counters.links.reduce((most, link) => Math.max(most, link.frames), 1);
  const down = [], steps = [[], [], []];
  data.links.forEach((_, link) => {
    if (counters.isDown(link)) down.push(link);
    const share = counters.links[link].frames / most;
    if (counters.links[link].frames > 0) steps[Math.min(2, Math.floor(share * 3))].push(link);
  });
  const width = Math.max(1, Math.min(2.6, camera.scale / 26));
  steps.forEach((links, step) => strokeLinks(links, theme.accent, width * (1 + 0.55 * step), 0.15 + 0.15 * step));
  strokeLinks(down, theme.card, width + 2);
  strokeLinks(down, theme.bad, width, 1, [5, 5]);
  if (state.chosen) {
    const color = theme.packets[state.chosen.kind];
    const links = state.chosen.hops.filter((hop) => hop.link >= 0 && hop.received !== null).map((hop) => hop.link);
    strokeLinks(links, color, Math.max(2.5, width * 1.8), 0.9);
    for (const hop of state.chosen.hops) marked.set(hop.from, color).set(hop.to, color);
    marked.set(state.chosen.source, color);
  }
}

/** From blue by violet to orange, by depth in the tree. */
function depthColor(depth, deepest) {
  const share = deepest ? depth / deepest : 0;
  return theme.dark
    ? `hsl(${205 + 180 * share} 85% ${64 + 2 * share}%)`
    : `hsl(${205 + 180 * share} 85% ${40 + 8 * share}%)`;
}

function drawBroadcast(marked) {
  const { source, parent, depth, deepest } = state.tree;
  const width = Math.max(0.8, Math.min(4, camera.scale / 14));
  marked.set(source, depthColor(0, deepest));
  for (let node = 0; node < nodeCount; node++) {
    if (node === source) continue;
    const link = linkBetween(parent[node], node);
    const share = Math.max(0, Math.min(1, state.step - (depth[node] - 1)));
    if (share <= 0 || link < 0) continue;
    const color = depthColor(depth[node], deepest);
    if (share >= 1) {
      strokeLinks([link], color, width);
      if (camera.scale > 14) arrow(link, parent[node], color);
      marked.set(node, color);
    } else {
      context.beginPath();
      for (let i = 0; i <= 12; i++) context.lineTo(...camera.toScreen(...onLink(link, parent[node], share * i / 12)));
      context.strokeStyle = color;
      context.lineWidth = width;
      context.stroke();
      dot(...camera.toScreen(...onLink(link, parent[node], share)), packetRadius(), color);
    }
  }
}

function drawRoute(marked) {
  const path = state.path, color = theme.packets[1];
  if (path.length < 2) { if (path.length) marked.set(path[0], color); return; }
  const links = path.slice(1).map((node, i) => linkBetween(path[i], node));
  strokeLinks(links, color, Math.max(2.5, Math.min(5, camera.scale / 11)), 0.9);
  links.forEach((link, i) => { if (camera.scale > 14) arrow(link, path[i], color); });
  path.forEach((node) => marked.set(node, color));
  const hop = Math.min(Math.floor(state.step), links.length - 1);
  dot(...camera.toScreen(...onLink(links[hop], path[hop], Math.min(1, state.step - hop))), packetRadius() * 1.3, color);
}

function drawNodes(marked) {
  const radius = camera.nodeRadius;
  const labels = radius > 6;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.font = `600 ${Math.min(12 * camera.size, Math.max(7.5, radius * 0.95))}px system-ui, sans-serif`;
  for (let node = 0; node < nodeCount; node++) {
    const [x, y] = camera.toScreen(...data.places[node]);
    if (x < -40 || y < -40 || x > camera.width + 40 || y > camera.height + 40) continue;
    const mark = marked.get(node);
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fillStyle = mark || theme.node;
    context.fill();
    context.lineWidth = radius > 5 ? 1.5 : 1;
    context.strokeStyle = mark ? theme.card : theme["node-line"];
    context.stroke();
    if (node === state.selected || node === state.overNode) {
      context.beginPath();
      context.arc(x, y, radius + 4, 0, 2 * Math.PI);
      context.lineWidth = node === state.selected ? 3 : 1.5;
      context.strokeStyle = theme.accent;
      context.stroke();
    }
    if (labels) {
      context.fillStyle = mark ? (theme.dark ? "#10151b" : "#ffffff") : theme.text;
      context.fillText(node, x, y + 0.5);
    }
  }
}

/** How long arrivals and drops are seen, as a share of the time a screen second takes. */
const flashTime = 0.35;

/** Rings around nodes where packets begin, arrive or end. */
function drawFlashes() {
  const at = state.time;
  const lasts = flashTime * state.speed * 1e6;
  const begin = firstAtLeast(trace.marks, (mark) => mark.at, at - lasts);
  for (let i = begin; i < trace.marks.length && trace.marks[i].at <= at; i++) {
    const { what, node, at: when, about } = trace.marks[i];
    if (what !== "delivered" && what !== "dropped" && what !== "accepted") continue;
    const age = (at - when) / lasts;
    const [x, y] = camera.toScreen(...data.places[node]);
    context.beginPath();
    const size = what === "accepted" ? 1.9 - 0.8 * age : 1 + 1.1 * age;
    context.arc(x, y, camera.nodeRadius * size + 1, 0, 2 * Math.PI);
    context.globalAlpha = 1 - age;
    context.lineWidth = 2.5;
    context.strokeStyle = what === "dropped" ? theme.bad : theme.packets[trace.packets[about].kind];
    context.stroke();
    context.globalAlpha = 1;
  }
}

/** Packets under way, with a short tail; in red those that nobody took. */
function drawPackets() {
  const at = state.time, radius = packetRadius();
  for (const hop of hopsAt(at)) {
    const packet = trace.packets[hop.packet];
    const lost = hop.received === null;
    const whole = endOf(hop) - hop.sent;
    const share = (whole > 0 ? (at - hop.sent) / whole : 1) * (lost ? 0.5 : 1);
    const color = lost ? theme.bad : theme.packets[packet.kind];
    const dim = state.chosen && state.chosen !== packet ? 0.25 : 1;
    context.beginPath();
    for (const behind of [0.18, 0.12, 0.06, 0]) context.lineTo(...camera.toScreen(...onLink(hop.link, hop.from, Math.max(0, share - behind))));
    context.globalAlpha = dim * 0.35;
    context.lineWidth = radius * 1.1;
    context.strokeStyle = color;
    context.stroke();
    context.globalAlpha = dim;
    dot(...camera.toScreen(...onLink(hop.link, hop.from, share)), radius, color);
    context.globalAlpha = 1;
  }
}

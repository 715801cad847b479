// The mesh on its canvas.

/** Rings around boards where something has just happened. */
let flashes = [];
const flashTime = 700;
function flash(node, kind) {
  if (!still) flashes.push({ node, kind, at: performance.now() });
}

/** Boards with addresses written below them. */
const labelsFit = () => data.places.length <= 80 && camera.scale > 46;

function draw() {
  clear();
  drawCables();
  const marked = new Map();
  if (collective.done) collective.draw(marked);
  else {
    drawFollowed(marked);
    for (const frame of mesh.frames) drawFrame(frame);
  }
  drawBoards(marked);
  drawFlashes();
}

const cableWidth = () => Math.max(0.7, Math.min(2.6, camera.scale / 26));

function drawCables() {
  const width = cableWidth(), crowd = data.links.length > 400 ? 0.45 : 0.85;
  const kinds = data.link_kinds.map(() => []), dead = [], unnoticed = [], coming = [];
  const changed = mesh.cut.size + mesh.off.size + mesh.down.size > 0;
  data.links.forEach(([, , kind], link) => {
    const now = changed ? mesh.stateOf(link) : "whole";
    (now === "whole" ? kinds[kind] : now === "dead" ? dead : now === "coming" ? coming : unnoticed).push(link);
  });
  for (let kind = kinds.length - 1; kind >= 0; kind--) strokeLinks(kinds[kind], linkColor(kind), width, kind === 0 ? 0.95 : crowd);
  strokeLinks(coming, theme.soft, width, 0.8, [2, 5]);
  strokeLinks(unnoticed, theme.bad, width + 0.6, 1, [9, 4]);
  strokeLinks(dead, theme.bad, width, 0.55, [3, 7]);
  if (state.overLink >= 0) strokeLinks([state.overLink], state.tool === "cut" ? theme.bad : theme.text, width + 2, 0.6);
  for (const link of mesh.cut) {
    const [x, y] = camera.toScreen(...onLink(link, data.links[link][0], 0.5)), size = Math.max(4, Math.min(8, camera.scale / 9));
    dot(x, y, size + 4, theme.card);
    context.beginPath();
    for (const [dx, dy] of [[1, 1], [1, -1]]) { context.moveTo(x - size * dx, y - size * dy); context.lineTo(x + size * dx, y + size * dy); }
    context.strokeStyle = theme.bad;
    context.lineWidth = 2.5;
    context.stroke();
  }
}

const colorOf = (packet) => (packet?.kind === "broadcast" ? theme.packets[2] : packet?.kind === "confirmation" ? theme.packets[6] : theme.packets[0]);

/** The way of the packet that is followed: detours in their own color, the computed route dotted until it is gone. */
function drawFollowed(marked) {
  const packet = mesh.followed, width = Math.max(2.4, Math.min(6, camera.scale / 10));
  if (state.tool === "send" && state.from >= 0) marked.set(state.from, theme.packets[0]);
  if (!packet) return;
  const arrived = packet.hops.filter((hop) => hop.arrived && hop.link >= 0 && (hop.counts || packet.dest !== null));
  if (packet.kind === "broadcast") {
    const deepest = Math.max(1, ...packet.depth.values());
    const byDepth = Map.groupBy(arrived, (hop) => packet.depth.get(hop.to));
    for (const [depth, hops] of byDepth) strokeLinks(hops.map((hop) => hop.link), depthColor(depth, deepest), Math.max(1.2, width * 0.7), 0.9);
    if (camera.scale > 20) for (const hop of arrived) arrow(hop.link, hop.from, depthColor(packet.depth.get(hop.to), deepest));
    marked.set(packet.source, depthColor(0, deepest));
    for (const node of packet.delivered.keys()) marked.set(node, depthColor(packet.depth.get(node), deepest));
    return;
  }
  if (state.route) strokeLinks(state.route.links, colorOf(packet), 2, 0.45, [1, 6]);
  strokeLinks(arrived.filter((hop) => !hop.detour).map((hop) => hop.link), colorOf(packet), width, 0.75);
  strokeLinks(arrived.filter((hop) => hop.detour).map((hop) => hop.link), theme.detour, width, 0.85);
  if (camera.scale > 14) for (const hop of arrived) arrow(hop.link, hop.from, hop.detour ? theme.detour : colorOf(packet));
  marked.set(packet.source, colorOf(packet));
  for (const hop of arrived) marked.set(hop.to, hop.detour ? theme.detour : colorOf(packet));
  for (const node of packet.delivered.keys()) marked.set(node, theme.good);
  if (!packet.delivered.size && packet.dest !== null) ring(packet.dest, theme.good, 6, [3, 4]);
}

/** From blue by violet to orange, by depth in the tree. */
function depthColor(depth, deepest) {
  const share = depth / deepest;
  return theme.dark ? `hsl(${205 + 180 * share} 85% ${64 + 2 * share}%)` : `hsl(${205 + 180 * share} 80% ${38 + 8 * share}%)`;
}

/** A frame on its way: a dot with a tail. On a cable that is cut it gets no further than that. */
function drawFrame(frame) {
  if (frame.link < 0) return;
  const dead = mesh.stateOf(frame.link) !== "whole" && mesh.cut.has(frame.link) || mesh.off.has(frame.to);
  const whole = (mesh.now / 1e9 - frame.t) / (frame.until - frame.t);
  moving(frame.link, frame.from, dead ? Math.min(whole, 0.45) : whole, dead ? theme.bad : frame.detour ? theme.detour : colorOf(frame.of));
}

function moving(link, from, share, color) {
  const radius = packetRadius() * 1.25, eased = Math.max(0, Math.min(1, share));
  context.beginPath();
  for (const behind of [0.24, 0.16, 0.08, 0]) context.lineTo(...camera.toScreen(...onLink(link, from, Math.max(0, eased - behind))));
  context.globalAlpha = 0.35;
  context.lineWidth = radius * 1.3;
  context.strokeStyle = color;
  context.stroke();
  context.globalAlpha = 1;
  dot(...camera.toScreen(...onLink(link, from, eased)), radius, color);
}

function ring(node, color, gap, dash = [], width = 2.5) {
  const [x, y] = camera.toScreen(...data.places[node]);
  context.beginPath();
  context.arc(x, y, camera.nodeRadius + gap, 0, 2 * Math.PI);
  context.setLineDash(dash);
  context.lineWidth = width;
  context.strokeStyle = color;
  context.stroke();
  context.setLineDash([]);
}

function drawBoards(marked) {
  const radius = camera.nodeRadius, addresses = labelsFit();
  const seen = [], byFill = new Map();
  data.places.forEach((place, node) => {
    const [x, y] = camera.toScreen(...place);
    if (x < -40 || y < -40 || x > camera.width + 40 || y > camera.height + 40) return;
    const fill = mesh.off.has(node) ? theme.page : marked.get(node) ?? theme.node;
    seen.push([node, x, y, fill]);
    if (!byFill.has(fill)) byFill.set(fill, []);
    byFill.get(fill).push([x, y]);
  });
  // Boards of a color are one path: hundreds of paths would take long.
  context.lineWidth = radius > 5 ? 1.5 : 1;
  for (const [fill, places] of byFill) {
    context.beginPath();
    for (const [x, y] of places) { context.moveTo(x + radius, y); context.arc(x, y, radius, 0, 2 * Math.PI); }
    context.fillStyle = fill;
    context.fill();
    context.strokeStyle = fill === theme.page ? theme.bad : fill === theme.node ? theme["node-line"] : theme.card;
    context.setLineDash(fill === theme.page ? [3, 3] : []);
    context.stroke();
  }
  context.setLineDash([]);
  if (radius > 6) drawLabels(seen, radius, addresses);
  if (state.selected >= 0) ring(state.selected, theme.accent, 4, [], 3);
  if (state.overNode >= 0) ring(state.overNode, theme.accent, 4, [], 1.5);
  if (state.cursor >= 0 && document.activeElement === canvas) ring(state.cursor, theme.text, 7, [4, 3], 2);
}

function drawLabels(seen, radius, addresses) {
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.font = `600 ${Math.min(12 * camera.size, Math.max(7.5, radius * 0.95))}px system-ui, sans-serif`;
  for (const [node, x, y, fill] of seen) {
    context.fillStyle = fill === theme.page ? theme.bad : fill === theme.node ? theme.text : theme.dark ? "#10151b" : "#ffffff";
    context.fillText(collective.labels?.[node] ?? node, x, y + 0.5);
  }
  if (!addresses) return;
  context.font = `${10.5 * camera.size}px ui-monospace, monospace`;
  context.lineWidth = 3;
  context.strokeStyle = theme.page;
  context.fillStyle = theme.soft;
  for (const [node, x, y] of seen) {
    if (data.addresses[node] === String(node)) continue;
    context.strokeText(data.addresses[node], x, y + radius + 9);
    context.fillText(data.addresses[node], x, y + radius + 9);
  }
}

function drawFlashes() {
  const now = performance.now();
  flashes = flashes.filter((flash) => now - flash.at < flashTime);
  for (const { node, kind, at } of flashes) {
    const age = (now - at) / flashTime;
    context.globalAlpha = 1 - age;
    ring(node, theme[kind], 2 + age * 1.2 * camera.nodeRadius);
    context.globalAlpha = 1;
  }
}

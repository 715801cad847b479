// The cards beside the mesh: the node, packet or link that is chosen, sums, latency, the busiest links.

const nodeButton = (node) => element("button", { onclick: () => select(node), "data-node": node }, node);

const bad = (value) => ({ value: String(value), bad: value > 0 });

function showSelection() {
  const card = byId("selection");
  if (state.mode === "route") return card.replaceChildren(...routeCard());
  if (state.mode === "broadcast") return card.replaceChildren(...broadcastCard());
  if (state.mode === "wiring") return card.replaceChildren(...wiringCard());
  if (state.chosen) return card.replaceChildren(...packetCard(state.chosen));
  if (state.selected < 0) {
    return card.replaceChildren(element("h2", {}, "Nothing selected"),
      picker("node", "", (node) => select(node)),
      element("p", { class: "note" }, "Click a node for its neighbors" + (trace ? " and counters, or a dot of the plot for a packet." : ".")));
  }
  card.replaceChildren(...nodeCard(state.selected));
}

function nodeTitle(node) {
  const address = data.addresses[node];
  return element("h2", {}, `Node ${node}`, address === String(node) ? null : element("small", {}, address));
}

function nodeCard(node) {
  const parts = [nodeTitle(node)];
  const counts = counters.nodes[node];
  if (trace) {
    parts.push(figures([["accepted", counts.accepted], ["delivered", counts.delivered], ["dropped", counts.dropped, true],
      ["frames in", counts.received], ["frames out", counts.sent], ["detours", counts.detoured, true]]));
  }
  parts.push(neighborTable(node));
  parts.push(element("div", { class: "actions" },
    element("button", { onclick: () => { state.source = node; setMode("broadcast"); } }, "Broadcast from here"),
    element("button", { onclick: () => { state.from = node; setMode("route"); } }, "Route from here")));
  return parts;
}

function neighborTable(node) {
  const names = trace ? ["neighbor", "port", "frames", "retransmitted", "damaged", "downs"]
    : wired ? ["neighbor", "port", "UART", "TX", "RX"] : ["neighbor", "port", "link"];
  const rows = data.neighbors[node].map((neighbor, port) => {
    const link = linkBetween(node, neighbor), counts = counters.links[link];
    const rest = trace
      ? [counts.frames, bad(counts.retransmitted), bad(counts.damaged), bad(counts.downs)].map((c) => (typeof c === "number" ? String(c) : c))
      : wired ? data.wiring[node][port] : [data.link_kinds[data.links[link][2]]];
    return row([nodeButton(neighbor), String(port), ...rest]);
  });
  return element("table", { id: "neighbors" }, headings(names), ...rows);
}

function pathOf(nodes) {
  const parts = nodes.flatMap((node, i) => (i ? [element("i", {}, "→"), nodeButton(node)] : [nodeButton(node)]));
  return element("div", { class: "path" }, ...parts);
}

function picker(label, value, change) {
  const input = element("input", { type: "number", min: 0, max: nodeCount - 1, value });
  input.addEventListener("change", () => {
    const node = Number(input.value);
    if (Number.isInteger(node) && node >= 0 && node < nodeCount) change(node);
  });
  return element("label", { class: "pick" }, label, input);
}

function routeCard() {
  const hops = state.path.length - 1;
  return [element("h2", {}, "Route", element("small", {}, `${hops} hop${hops === 1 ? "" : "s"}`)),
    picker("from", state.from, (node) => { state.from = node; setMode("route"); }),
    picker("to", state.to, (node) => { state.to = node; setMode("route"); }),
    pathOf(state.path),
    element("p", { class: "note" }, "Computed from the two addresses, hop by hop. Click a node to route to it, with Shift to route from it.")];
}

function broadcastCard() {
  const { source, depth, deepest } = state.tree;
  const perDepth = new Array(deepest + 1).fill(0);
  depth.forEach((d) => perDepth[d]++);
  const rows = perDepth.map((count, hops) => row([String(hops), String(count), String(perDepth.slice(0, hops + 1).reduce((a, b) => a + b))]));
  return [element("h2", {}, "Broadcast", element("small", {}, `reaches ${nodeCount} nodes, depth ${deepest}`)),
    picker("from", source, (node) => { state.source = node; setMode("broadcast"); }),
    element("table", {}, headings(["hops", "nodes reached", "in all"]), ...rows),
    element("p", { class: "note" }, "The tree is computed from addresses: every node receives exactly once. Click another node to begin there.")];
}

function packetCard(packet) {
  const kind = trace.kinds[packet.kind];
  const took = packet.accepted !== null && packet.delivered !== null ? packet.delivered - packet.accepted : null;
  const hops = packet.hops.filter((hop) => hop.received !== null);
  const rows = packet.hops.slice(0, 24).map((hop) => row([
    element("span", {}, nodeButton(hop.from), "→", nodeButton(hop.to)),
    hop.received === null ? "lost" : String(Math.round(hop.received - hop.sent)), bad(hop.retransmitted)]));
  return [element("h2", {}, `${kind} ${packet.number}`, element("small", {}, packet.dest === null ? `from ${packet.source}` : `${packet.source} → ${packet.dest}`)),
    figures([["took, µs", took === null ? "–" : Math.round(took)], ["hops", hops.length],
      ["computed", packet.dest === null || packet.dest >= nodeCount ? "–" : route(packet.source, packet.dest).length - 1]]),
    element("table", {}, headings(["hop", "µs", "retransmitted"]), ...rows),
    element("div", { class: "actions" },
      element("button", { onclick: () => { timeline.seek((packet.accepted ?? packet.hops[0].sent) - 1); timeline.play(true); } }, "Replay it"),
      element("button", { onclick: () => choose(null) }, "Let go"))];
}

function showTotals() {
  const card = byId("totals");
  if (!trace || state.mode !== "replay") { card.hidden = true; return; }
  card.hidden = false;
  const { accepted, delivered, dropped, sent } = counters.totals;
  const retransmitted = counters.links.reduce((sum, link) => sum + link.retransmitted, 0);
  const down = data.links.filter((_, link) => counters.isDown(link)).length;
  const reasons = counters.drops.map((count, i) => [trace.reasons[i], count]).filter(([, count]) => count);
  card.replaceChildren(element("h2", {}, "So far"),
    figures([["packets", accepted], ["arrivals", delivered], ["dropped", dropped, true],
      ["frames", sent + retransmitted], ["retransmitted", retransmitted, true], ["links down", down, true]]),
    ...(reasons.length ? [element("table", {}, headings(["dropped because", ""]), ...reasons.map(([name, count]) => row([name, String(count)])))] : []));
}

function showBusy() {
  const card = byId("busy");
  card.hidden = !trace || state.mode !== "replay";
  if (card.hidden) return;
  const worst = counters.links.map((link, index) => [link, index]).filter(([link]) => link.frames)
    .sort(([a], [b]) => b.frames - a.frames).slice(0, 6);
  byId("busy-table").replaceChildren(headings(["link", "frames", "retransmitted", "damaged", "downs"]),
    ...worst.map(([link, index]) => row([element("span", {}, nodeButton(data.links[index][0]), "–", nodeButton(data.links[index][1])),
      String(link.frames), bad(link.retransmitted), bad(link.damaged), bad(link.downs)])));
}

const timed = trace ? trace.packets.filter((p) => p.accepted !== null && p.delivered !== null && p.dest !== p.source) : [];
const plot = { left: 40, right: 8, top: 6, bottom: 20, most: 1, from: 0, to: 1 };
if (timed.length) {
  const times = timed.map((p) => p.delivered - p.accepted).sort((a, b) => a - b);
  const rank = (share) => times[Math.max(0, Math.ceil(times.length * share) - 1)];
  Object.assign(plot, { most: times[times.length - 1] * 1.05 || 1, half: rank(0.5), nearly: rank(0.99) });
  plot.from = timed.reduce((least, p) => Math.min(least, p.accepted), Infinity);
  plot.to = Math.max(timed.reduce((most, p) => Math.max(most, p.accepted), 0), plot.from + 1);
}

function plotPlace(packet, width, height) {
  const x = plot.left + (packet.accepted - plot.from) / (plot.to - plot.from) * (width - plot.left - plot.right);
  const y = height - plot.bottom - (packet.delivered - packet.accepted) / plot.most * (height - plot.top - plot.bottom);
  return [x, y];
}

function drawLatency() {
  const card = byId("latency");
  card.hidden = !timed.length || state.mode !== "replay";
  if (card.hidden) return;
  const sheet = byId("latency-plot"), { width, height } = sheet.getBoundingClientRect();
  const dots = window.devicePixelRatio || 1, pen = sheet.getContext("2d");
  if (sheet.width !== Math.round(width * dots)) { sheet.width = Math.round(width * dots); sheet.height = Math.round(height * dots); }
  pen.setTransform(dots, 0, 0, dots, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = "10.5px system-ui, sans-serif";
  pen.fillStyle = theme.soft;
  pen.strokeStyle = theme.line;
  pen.lineWidth = 1;
  const y = (value) => height - plot.bottom - value / plot.most * (height - plot.top - plot.bottom);
  const unit = plot.most >= 10000 ? [1000, "ms"] : [1, "µs"];
  pen.textAlign = "right";
  for (const tick of ticks(plot.most / unit[0])) {
    const at = y(tick * unit[0]);
    pen.beginPath(); pen.moveTo(plot.left, at); pen.lineTo(width - plot.right, at); pen.stroke();
    pen.fillText(tick, plot.left - 5, at + 3.5);
  }
  pen.textAlign = "left";
  pen.fillText(`${((trace.begin + plot.from / 1e6)).toFixed(3)} s`, plot.left, height - 5);
  pen.textAlign = "right";
  pen.fillText(`${((trace.begin + plot.to / 1e6)).toFixed(3)} s`, width - plot.right, height - 5);
  pen.textAlign = "left";
  pen.fillText(unit[1], 2, height - 5);
  const size = timed.length > 2000 ? 1.1 : timed.length > 400 ? 1.6 : 2.3;
  for (const packet of timed) {
    const [px, py] = plotPlace(packet, width, height);
    pen.globalAlpha = packet.delivered <= state.time ? 0.9 : 0.28;
    pen.fillStyle = theme.packets[packet.kind];
    pen.beginPath(); pen.arc(px, py, packet === state.chosen ? 5 : size, 0, 7); pen.fill();
  }
  pen.globalAlpha = 1;
  pen.setLineDash([4, 3]);
  for (const value of [plot.half, plot.nearly]) {
    pen.strokeStyle = theme.soft;
    pen.beginPath(); pen.moveTo(plot.left, y(value)); pen.lineTo(width - plot.right, y(value)); pen.stroke();
  }
  pen.setLineDash([]);
  const now = plot.left + (state.time - plot.from) / (plot.to - plot.from) * (width - plot.left - plot.right);
  if (now >= plot.left && now <= width - plot.right) {
    pen.strokeStyle = theme.accent;
    pen.beginPath(); pen.moveTo(now, plot.top); pen.lineTo(now, height - plot.bottom); pen.stroke();
  }
  const shown = (value) => `${(value / unit[0]).toFixed(unit[0] > 1 ? 1 : 0)} ${unit[1]}`;
  byId("latency-facts").textContent = `50 % ${shown(plot.half)} · 99 % ${shown(plot.nearly)}`;
}

/** Round numbers from 0 up to a value, about four. */
function ticks(most) {
  const power = 10 ** Math.floor(Math.log10(most / 4));
  const step = [1, 2, 5, 10].map((s) => s * power).find((s) => most / s <= 5) ?? power * 10;
  const list = [];
  for (let i = 0; i * step <= most; i++) list.push(Number((i * step).toPrecision(6)));
  return list;
}

function showLegend() {
  const parts = data.link_kinds.slice(0, 8).map((name, kind) => element("span", {}, element("i", { style: `border-color:${linkColor(kind)}` }), name));
  if (trace && state.mode === "replay") {
    const used = [...new Set(trace.packets.map((packet) => packet.kind))].sort();
    parts.push(...used.map((kind) => element("span", {}, element("i", { class: "dot", style: `background:${theme.packets[kind]}` }), trace.kinds[kind])));
  }
  byId("legend").replaceChildren(...parts);
}

function showHint(sx, sy) {
  const hint = byId("hint");
  const { overNode, overLink } = state;
  hint.hidden = overNode < 0 && overLink < 0;
  if (hint.hidden) return;
  const parts = [];
  if (overNode >= 0) {
    const counts = counters.nodes[overNode];
    parts.push(element("b", {}, `Node ${overNode}`), ` ${data.addresses[overNode]}`);
    if (trace && state.mode === "replay") parts.push(element("br"), `${counts.sent} out, ${counts.received} in, ${counts.delivered} delivered, ${counts.dropped} dropped`);
    if (state.mode === "broadcast") parts.push(element("br"), `${state.tree.depth[overNode]} hops from node ${state.tree.source}`);
  } else {
    const [a, b, kind] = data.links[overLink], counts = counters.links[overLink];
    parts.push(element("b", {}, `${a} – ${b}`), ` ${data.link_kinds[kind]}`);
    if (wired) {
      const ends = [[a, b], [b, a]].map(([node, far]) => endOfCable([node, data.neighbors[node].indexOf(far)]));
      for (const { node, uart, tx, rx } of ends) parts.push(element("br"), `${node} ${uart}: TX ${tx}, RX ${rx}`);
    }
    if (trace && state.mode === "replay") parts.push(element("br"), `${counts.frames} frames, ${counts.retransmitted} retransmitted, ${counts.damaged} damaged, ${counts.downs} downs`);
  }
  hint.replaceChildren(...parts);
  hint.style.left = `${Math.min(sx + 14, camera.width - hint.offsetWidth - 8)}px`;
  hint.style.top = `${Math.max(8, Math.min(sy + 14, camera.height - hint.offsetHeight - 8))}px`;
}

/** All cards. */
function showPanel() {
  showSelection();
  showCables();
  showTotals();
  showBusy();
  drawLatency();
}

// The cards beside the mesh, the legend, the hint under the pointer and the list of what happened.

/** Fills a card if what it shows has changed; what had the keyboard keeps it. */
function fill(id, shown, make) {
  const card = byId(id), key = JSON.stringify(shown);
  card.hidden = shown === null;
  if (card.dataset.shown === key) return;
  card.dataset.shown = key;
  const focused = card.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  card.replaceChildren(...(shown === null ? [] : make()));
  if (focused) card.querySelector(`[data-key="${focused}"]`)?.focus();
}

const button = (key, text, onclick, more = {}) => element("button", { "data-key": key, onclick, ...more }, text);
const note = (text) => element("p", { class: "note" }, text);
const boardButton = (node, more = {}) => button(`board-${node}`, node, () => select(node), { "aria-label": `Board ${node}`, ...more });

/** A field for a board's number. */
function picker(key, label, value, change) {
  const input = element("input", { type: "number", min: 0, max: data.places.length - 1, value: value < 0 ? "" : value, "data-key": key });
  input.addEventListener("change", () => {
    const node = Number(input.value);
    if (input.value !== "" && Number.isInteger(node) && node >= 0 && node < data.places.length) change(node);
    else input.value = value < 0 ? "" : value;
  });
  return element("label", { class: "pick" }, label, input);
}

const toolNotes = {
  send: () => (state.from < 0 ? "Click the board that sends." : `Click a board: board ${state.from} sends to it. Click board ${state.from} to choose another sender.`),
  broadcast: () => "Click a board: it sends to all others, each of which computes which neighbors to forward it to.",
  cut: () => "Click a cable to cut it or to plug it in again, a board to switch it off or on.",
  collective: () => "All boards compute together, in rounds over whole cables. At the beginning, the value of a board is its number.",
  look: () => "Click a board to see its neighbors. Drag to move the mesh, scroll or pinch to zoom.",
};

function showTool() {
  const { tool, from, to, confirmed, operation } = state;
  const report = collective.done?.report;
  fill("tool", [tool, from, to, confirmed, operation, report?.op, collective.over, mesh.cut.size + mesh.off.size], () => {
    const parts = [element("h2", {}, { send: "Send a packet", broadcast: "Broadcast", cut: "Break something", collective: "Compute together", look: "Look" }[tool]), note(toolNotes[tool]())];
    if (tool === "send") {
      parts.push(element("div", { class: "do" }, picker("from", "from", from, (node) => { state.from = node; changed(); }), picker("to", "to", to, (node) => { state.to = node; changed(); }),
        button("send", "Send", () => send(), { class: "main", ...(from < 0 && { disabled: "" }) })));
      const box = element("input", { type: "checkbox", "data-key": "confirmed", ...(confirmed && { checked: "" }), onchange: (event) => { state.confirmed = event.target.checked; changed(); } });
      parts.push(element("div", { class: "do" }, element("label", {}, box, " confirmed: the destination acknowledges it, a lost one is retransmitted")));
    }
    if (tool === "broadcast") parts.push(element("div", { class: "do" }, picker("source", "from", Math.max(0, from), (node) => { state.from = node; changed(); }), button("broadcast", "Broadcast", () => act(`b${Math.max(0, state.from)}`), { class: "main" })));
    if (tool === "cut") parts.push(element("div", { class: "do" }, button("restore", "Restore all", restoreAll, mesh.cut.size + mesh.off.size ? {} : { disabled: "" })));
    if (tool === "collective") {
      const choice = element("select", { "data-key": "operation", onchange: (event) => { state.operation = event.target.value; changed(); } },
        ...operations.map((name) => element("option", { value: name, ...(name === operation && { selected: "" }) }, name)));
      parts.push(element("div", { class: "do" }, element("label", { class: "pick" }, "operation", choice), button("compute", "Run", () => collective.run(state.operation), { class: "main" })));
      if (report) parts.push(figures([["rounds", report.rounds], ["fewest possible", report.bound], ["messages", report.messages]]),
        note(`${report.method}; ${collective.over ? `every result is ${report.correct ? "correct" : "WRONG"}` : "under way"}.`));
    }
    return parts;
  });
}

/** How the addresses of this network fall into digits: strings of bits are taken apart, numbers are whole. */
let digitForm = { network: "", bits: [] };
function tokens(node) {
  const split = (address) => address.match(/\d+|\D+/g);
  if (digitForm.network !== data.network) {
    const all = data.addresses.map(split), [first] = all;
    digitForm = { network: data.network, bits: first.map((token, place) => token.length > 1 && all.every((one) => /^[01]+$/.test(one[place]) && one[place].length === token.length)) };
  }
  return split(data.addresses[node]).flatMap((token, place) => (digitForm.bits[place] ? [...token] : [token]));
}

/** An address, with the digits marked that are those of the destination already, and those that the last hop changed. */
function digits(node, dest, before) {
  const [own, theirs, old] = [node, dest, before].map((one) => (one === undefined ? [] : tokens(one)));
  const parts = own.map((token, place) => (/\D/.test(token) ? element("i", {}, token)
    : element("b", { class: [token === theirs[place] ? "there" : "", old.length && old[place] !== token ? "new" : ""].join(" ").trim() || undefined }, token)));
  return element("span", { class: digitForm.bits.some(Boolean) ? "digits bits" : "digits" }, ...parts);
}

/** What a hop does to the address: the digit that it changes, or the link if it changes several. */
function inWords(from, to) {
  const [a, b] = [tokens(from), tokens(to)].map((all) => all.filter((token) => /\d/.test(token)));
  const changes = a.map((digit, place) => (digit === b[place] ? null : `${place + 1}, ${digit} → ${b[place]}`)).filter(Boolean);
  return changes.length === 1 && a.length > 1 ? `digit ${changes[0]}` : data.link_kinds[data.links[linkBetween(from, to)][2]];
}

function showRule() {
  const { route, tool } = state;
  const shown = route && (tool === "send" || tool === "look");
  const packet = mesh.followed, followed = shown && packet?.source === route.path[0] && packet?.dest === route.path.at(-1);
  const here = followed ? pathOf(packet).at(-1) : -1;
  fill("rule", shown ? [data.network, route.path, here] : null, () => {
    const dest = route.path.at(-1);
    const rows = route.path.map((node, hop) => {
      const next = route.path[hop + 1];
      const made = row([boardButton(node), digits(node, dest, route.path[hop - 1]), next === undefined ? "the destination" : `port ${route.ports[hop]}: ${inWords(node, next)}`]);
      if (node === here) made.setAttribute("aria-current", "step");
      return made;
    });
    const most = 40;
    return [element("h2", {}, `Next hops from ${route.path[0]} to ${dest}`, element("small", {}, counted(route.hops, "hop"))),
      note("Each board computes the port from its own address and the destination's. Green: right already. Framed: changed by the last hop."),
      element("table", {}, headings(["board", "address", "leaves by"]), ...rows.slice(0, most)), rows.length > most ? note(`and ${rows.length - most} more`) : null].filter(Boolean);
  });
}

function showPacket() {
  const packet = mesh.followed;
  const path = packet && packet.kind !== "broadcast" ? pathOf(packet) : [];
  fill("packet", packet && !collective.done ? [keyOf(packet), path, packet.delivered.size, packet.detours, packet.dropped.length, mesh.busy] : null, () => {
    const took = packet.delivered.size ? `${((Math.max(...packet.delivered.values()) - packet.at) * 1e3).toFixed(2)}` : "–";
    if (packet.kind === "broadcast") {
      return [element("h2", {}, "Broadcast", element("small", {}, `from ${packet.source}`)),
        figures([["boards reached", packet.delivered.size], ["depth", Math.max(...packet.depth.values())], ["ms", took]])];
    }
    const detour = (hop) => packet.hops.some((one) => one.detour && one.arrived && one.from === path[hop - 1] && one.to === path[hop]);
    const chips = path.slice(0, 60).flatMap((node, hop) => [hop ? element("i", { class: detour(hop) ? "detour" : undefined, title: detour(hop) ? "detour" : undefined }, detour(hop) ? "⤳" : "→") : null, boardButton(node, { class: "seen" })]);
    const state = packet.delivered.size ? "delivered" : packet.dropped.length && !mesh.busy ? `dropped: ${packet.dropped.at(-1)[1]}` : "under way";
    return [element("h2", {}, packet.kind === "confirmed" ? "Confirmed packet" : "Datagram", element("small", {}, `${packet.source} → ${packet.dest}, ${state}`)),
      figures([["hops", path.length - 1], ["detours", packet.detours], ["ms", took]]), element("div", { class: "path" }, ...chips)];
  });
}

function showBoard() {
  const node = state.selected;
  const states = node < 0 ? [] : data.neighbors[node].map((neighbor) => mesh.stateOf(linkBetween(node, neighbor)));
  const words = { whole: "up", dead: "down", unnoticed: "dead, not noticed yet", coming: "coming up" };
  fill("board", node < 0 ? null : [data.network, node, states, [...mesh.cut], mesh.off.has(node)], () => {
    const off = mesh.off.has(node);
    const rows = data.neighbors[node].slice(0, 32).map((neighbor, port) => {
      const link = linkBetween(node, neighbor), cut = mesh.cut.has(link);
      return row([boardButton(neighbor), port, digits(neighbor, node), words[states[port]],
        button(`cable-${link}`, cut ? "Plug in" : "Cut", () => act(`${cut ? "p" : "x"}${link}`), { "aria-label": `${cut ? "Plug in" : "Cut"} the cable to board ${neighbor}` })]);
    });
    return [element("h2", {}, `Board ${node}`, digits(node, node)),
      element("table", { id: "neighbors" }, headings(["neighbor", "port", "address", "link", ""]), ...rows),
      element("div", { class: "do" }, button("power", off ? "Switch on" : "Switch off", () => act(`${off ? "r" : "k"}${node}`)),
        button("from-here", "Send from here", () => { state.from = node; setTool("send"); }), button("broadcast-here", "Broadcast", () => act(`b${node}`)))];
  });
}

function showFacts() {
  const { nodes, edges, degree_min: least, degree_max: most, diameter, mean_distance: mean } = data.figures;
  const facts = [[nodes, "boards"], [edges, "cables"], [least === most ? most : `${least}–${most}`, "per board"], [, "diameter", diameter], [, "mean distance", mean?.toFixed(2)]];
  const bold = (value) => (value === undefined ? "" : element("b", {}, value ?? "?"));
  byId("facts").replaceChildren(...facts.flatMap(([before, name, after], place) => [place ? " · " : "", bold(before), ` ${name} `, bold(after)]));
  const kinds = data.link_kinds.slice(0, 8).map((name, kind) => element("span", {}, element("i", { style: `border-color:${linkColor(kind)}` }), name));
  byId("legend").replaceChildren(...kinds);
  canvas.setAttribute("aria-label", `A drawing of ${data.network}: ${nodes} boards, ${edges} cables.`);
}

function showHint(sx, sy) {
  const hint = byId("hint"), { overNode, overLink } = state;
  hint.hidden = overNode < 0 && overLink < 0;
  if (hint.hidden) return;
  const parts = [];
  if (overNode >= 0) {
    parts.push(element("b", {}, `Board ${overNode}`), " ", digits(overNode, state.to));
    if (mesh.off.has(overNode)) parts.push(element("br"), "switched off");
    else if (overNode !== state.to && state.to >= 0) {
      const { path, ports } = ask("route", { network: data.network, from: overNode, to: state.to });
      parts.push(element("br"), `For board ${state.to}: port ${ports[0]}, to board ${path[1]} `, digits(path[1], state.to, overNode));
    }
  } else {
    const [a, b, kind] = data.links[overLink];
    const word = { whole: "up", dead: "down at both ends", unnoticed: "dead, and nobody has noticed yet", coming: "coming up" }[mesh.stateOf(overLink)];
    parts.push(element("b", {}, `${a} – ${b}`), ` ${data.link_kinds[kind]}, ${word}`);
  }
  hint.replaceChildren(...parts);
  hint.style.left = `${Math.max(8, Math.min(sx + 14, camera.width - hint.offsetWidth - 8))}px`;
  hint.style.top = `${Math.max(8, Math.min(sy + 14, camera.height - hint.offsetHeight - 8))}px`;
}

/** Adds a line to what happened, where it is heard too. */
function report(seconds, text, kind = "") {
  const list = byId("log"), time = seconds === null ? "" : `${(seconds * 1e3 - mesh.begin / 1e6).toFixed(2)} ms`;
  list.prepend(element("li", {}, element("time", {}, time), element("span", { class: kind || undefined }, text)));
  while (list.children.length > 80) list.lastChild.remove();
}

function showPanel() {
  showTool();
  showRule();
  showPacket();
  showBoard();
  showLesson();
}

// The wiring assistant: every cable with its pins, in the order of the plan; ticked off as it is plugged in; a sheet for each board.

const wired = data.wiring !== null;
const cables = data.cables.map(([a, p, b, q], place) => ({ number: place + 1, ends: [[a, p], [b, q]], link: linkBetween(a, b) }));

/** The cables that are plugged in, kept from visit to visit where the browser lets us. */
const plugged = {
  key: `hopwise wiring ${data.network} ${JSON.stringify(data.wiring)}`,
  numbers: new Set(),

  read() {
    try { this.numbers = new Set(JSON.parse(localStorage.getItem(this.key) ?? "[]")); } catch { /* there is nothing to read */ }
  },

  set(number, on) {
    if (on) this.numbers.add(number); else this.numbers.delete(number);
    try { localStorage.setItem(this.key, JSON.stringify([...this.numbers])); } catch { /* kept for this visit only */ }
  },
};
plugged.read();

/** The cable that is looked at: the first that is not plugged in, unless another was chosen. */
let chosenCable = null;
const currentCable = () => chosenCable ?? cables.find((cable) => !plugged.numbers.has(cable.number)) ?? cables[cables.length - 1];

/** Serial port and pins of an end. */
function endOfCable([node, port]) {
  const [uart, tx, rx] = data.wiring[node][port];
  return { node, uart, tx, rx };
}

const placeOfPin = (pin) => pin.split(" ").pop();

/** The wires of a cable, in words. */
function wiresOf(cable) {
  const [from, to] = cable.ends.map(endOfCable);
  return [`board ${from.node} TX ${from.tx} to board ${to.node} RX ${to.rx}`,
    `board ${from.node} RX ${from.rx} to board ${to.node} TX ${to.tx}`, "ground to ground"];
}

const cableTitle = (cable) => {
  const [from, to] = cable.ends.map(endOfCable);
  return `${from.node} ${from.uart} – ${to.node} ${to.uart}`;
};

/** The picture of a node's board with some pins marked. The picture is part of the page, not of a trace. */
function boardPicture(node, pins) {
  const picture = new DOMParser().parseFromString(data.boards[data.board_of[node]], "image/svg+xml").documentElement;
  picture.setAttribute("aria-label", `Board ${node}: pins ${pins.join(" and ")}`);
  for (const pin of pins) {
    picture.querySelectorAll(`[data-pin="${pin}"], [data-note="${pin}"]`).forEach((part) => part.classList.add("here"));
  }
  return element("div", { class: "board" }, document.importNode(picture, true));
}

function wiringCard() {
  const cable = currentCable(), done = plugged.numbers.has(cable.number);
  const boards = cable.ends.flatMap((end) => {
    const { node, uart, tx, rx } = endOfCable(end);
    return [element("h3", {}, `Board ${node}, ${uart}`), boardPicture(node, [placeOfPin(tx), placeOfPin(rx)])];
  });
  return [element("h2", {}, `Cable ${cable.number} of ${cables.length}`, element("small", {}, `${plugged.numbers.size} plugged in`)),
    element("ul", { class: "wires" }, ...wiresOf(cable).map((wire) => element("li", {}, wire))),
    element("div", { class: "actions" },
      element("button", { id: "plugged-in", onclick: () => tick(cable, !done) }, done ? "Not plugged in" : "Plugged in, next"),
      element("button", { onclick: () => window.print() }, "Print a sheet for each board")),
    ...boards];
}

/** A cable is plugged in, or is not any more. */
function tick(cable, on) {
  plugged.set(cable.number, on);
  chosenCable = on ? null : cable;
  say(on ? `Cable ${cable.number} is plugged in. Next is cable ${currentCable().number}.` : `Cable ${cable.number} is not plugged in.`);
  showPanel();
  state.dirty = true;
  byId("plugged-in")?.focus();
}

/** All cables with their pins, in every mode. */
function showCables() {
  const card = byId("cables");
  card.hidden = !wired;
  const shows = `${state.mode} ${currentCable()?.number} ${[...plugged.numbers]}`;
  if (!wired || card.dataset.shows === shows) return;
  card.dataset.shows = shows;
  const open = card.querySelector("details")?.open ?? false;
  const items = cables.map((cable) => {
    const box = element("input", { type: "checkbox" });
    box.checked = plugged.numbers.has(cable.number);
    box.addEventListener("change", () => tick(cable, box.checked));
    const pins = element("small", {}, wiresOf(cable).slice(0, 2).join("; "));
    const now = state.mode === "wiring" && cable === currentCable();
    const look = element("button", { class: "quiet", onclick: () => { chosenCable = cable; setMode("wiring"); } }, "show");
    look.setAttribute("aria-label", `Show cable ${cable.number}`);
    return element("li", { class: now ? "now" : undefined, "aria-current": now ? "step" : undefined },
      element("label", {}, box, `${cable.number}: ${cableTitle(cable)}`), pins, look);
  });
  const details = element("details", {}, element("summary", {}, `Cables and their pins (${plugged.numbers.size} of ${cables.length} plugged in)`),
    element("ol", {}, ...items));
  details.open = open || state.mode === "wiring";
  card.replaceChildren(details);
}

function drawWiring(marked) {
  const width = Math.max(2, Math.min(4, camera.scale / 14)), now = currentCable();
  strokeLinks(cables.filter((cable) => plugged.numbers.has(cable.number)).map((cable) => cable.link), theme.good, width);
  strokeLinks([now.link], theme.packets[1], width * 1.6);
  now.ends.forEach(([node]) => marked.set(node, theme.packets[1]));
}

/** One sheet a board: its headers with the pins that are used, and where each of its cables goes. */
function makeSheets() {
  if (!wired || byId("sheets").childElementCount) return;
  const sheet = (node) => {
    const mine = cables.filter((cable) => cable.ends.some(([end]) => end === node));
    const pins = data.wiring[node].flatMap(([, tx, rx]) => [placeOfPin(tx), placeOfPin(rx)]);
    return element("section", { class: "sheet" }, element("h2", {}, `Board ${node} of ${data.network}`), boardPicture(node, pins),
      element("ul", {}, ...mine.map((cable) => {
        const ends = cable.ends[0][0] === node ? cable.ends : [cable.ends[1], cable.ends[0]];
        const [here, there] = ends.map(endOfCable);
        return element("li", {}, `☐ cable ${cable.number}: ${here.uart} TX ${here.tx} to board ${there.node} RX ${there.rx}; RX ${here.rx} to TX ${there.tx}; ground`);
      })));
  };
  byId("sheets").replaceChildren(...data.places.map((_, node) => sheet(node)));
}
window.addEventListener("beforeprint", makeSheets);

// The mesh: what the engine has told of it so far, and what a person does to it.

/** The drawn network; camera and shapes read it. */
let data = { places: [], links: [], clusters: [], link_kinds: [], neighbors: [], addresses: [], figures: {} };
let linkOf = new Map();

/** The link between two boards, or -1. */
const linkBetween = (a, b) => linkOf.get(Math.min(a, b) * data.places.length + Math.max(a, b)) ?? -1;

const keyOf = (packet) => `${packet.kind} ${packet.source}.${packet.number}`;

const mesh = {
  /** Nanoseconds: now, and when all links were up. */
  now: 0, begin: 0,
  busy: false,
  /** Frames with packets in them, on their way over a cable. */
  frames: [],
  /** All packets, by key; the last one that a person sent is followed. */
  packets: new Map(), followed: null,
  /** Cables that are cut, ends that have noticed (link and board), boards that are off. */
  cut: new Set(), down: new Set(), off: new Set(),
  /** What a person did: time and code, for the share link. */
  actions: [],
  /** All events, for a trace. */
  trace: [],

  /** Opens a network; throws the engine's sentence if it cannot. */
  open(network) {
    const opened = ask("open", { network });
    data = opened;
    linkOf = new Map(data.links.map(([a, b], link) => [a * data.places.length + b, link]));
    Object.assign(this, { now: opened.progress.now, begin: opened.progress.now, frames: [], packets: new Map(), followed: null,
      cut: new Set(), down: new Set(), off: new Set(), actions: [], trace: [] });
    this.hear(opened.progress, true);
  },

  /** Lets time go on until a moment, or to the next event. */
  advance(until, one = false) {
    this.hear(ask("advance", { until: Math.round(until), one }));
  },

  hear(progress, quietly = false) {
    this.now = progress.now;
    this.busy = progress.busy;
    for (const line of progress.events) {
      const event = JSON.parse(line);
      if (event.event === "frame") this.frame(event);
      else {
        this.trace.push(line);
        if (!quietly) this.happened(event);
      }
    }
    this.frames = this.frames.filter((frame) => frame.until * 1e9 > this.now);
  },

  packetOf(event) {
    return this.packets.get(keyOf(event.packet));
  },

  frame(event) {
    const packet = this.packetOf(event);
    const frame = { ...event, from: event.node, link: linkBetween(event.node, event.to), of: packet };
    this.frames.push(frame);
    if (!packet) return;
    frame.detour = packet.detouring.delete(event.node);
    packet.hops.push(frame);
  },

  happened(event) {
    const { node } = event, packet = event.packet && this.packetOf(event);
    const neighbor = event.link === undefined ? undefined : data.neighbors[node][event.link];
    switch (event.event) {
      case "accepted": {
        const { kind, source } = event.packet;
        const made = { ...event.packet, dest: kind === "broadcast" ? null : event.dest, at: event.t, hops: [], detouring: new Set(), detours: 0,
          depth: new Map([[source, 0]]), delivered: new Map(), dropped: [] };
        this.packets.set(keyOf(event.packet), made);
        if (kind === "broadcast") report(event.t, `Board ${source} broadcasts to all.`);
        else if (kind === "confirmation") report(event.t, `Board ${source} confirms it to board ${event.dest}.`);
        else if (kind !== "undeliverable") report(event.t, `Board ${source} sends a ${kind === "confirmed" ? "confirmed packet" : "datagram"} to board ${event.dest}.`);
        if (["datagram", "confirmed", "broadcast"].includes(kind)) this.followed = made;
        break;
      }
      case "received": {
        const hop = packet?.hops.findLast((hop) => hop.to === node && hop.from === neighbor);
        if (hop) hop.arrived = true;
        break;
      }
      case "delivered": {
        if (!packet) break;
        packet.delivered.set(node, event.t);
        const last = packet.hops.findLast((hop) => hop.to === node && hop.arrived);
        if (last) {
          last.counts = true;
          packet.depth.set(node, packet.depth.get(last.from) + 1);
        }
        flash(node, packet.kind === "undeliverable" ? "bad" : "good");
        const took = ((event.t - packet.at) * 1e3).toFixed(2);
        if (packet.kind === "broadcast") {
          const live = data.places.length - this.off.size;
          if (packet.delivered.size === live - 1) report(event.t, `All ${live - 1} others have the broadcast, each once, after ${took} ms.`, "good");
        } else if (packet.kind === "undeliverable") report(event.t, `Board ${node} hears that its packet could not be delivered.`, "bad");
        else if (packet.kind !== "confirmation") report(event.t, `Board ${node} has it: ${counted(pathOf(packet).length - 1, "hop")}, ${took} ms.`, "good");
        break;
      }
      case "detoured":
        if (!packet) break;
        packet.detouring.add(node);
        packet.detours++;
        report(event.t, `Board ${node} takes a detour by board ${event.by}.`, "detour");
        break;
      case "dropped":
        // A copy that is not needed is no loss.
        if (["duplicate", "stale"].includes(event.reason)) break;
        packet?.dropped.push([node, event.reason]);
        flash(node, "bad");
        report(event.t, `Board ${node} drops ${packet ? `the ${packet.kind} packet` : "a packet"}: ${event.reason}.`, "bad");
        break;
      case "completed":
        report(event.t, `Board ${node} knows: ${event.outcome}.`, event.outcome === "delivered" ? "good" : "bad");
        break;
      case "link-down":
        this.down.add(`${linkBetween(node, neighbor)} ${node}`);
        report(event.t, `Board ${node} notices that the link to board ${neighbor} is down: ${event.reason}.`, "bad");
        break;
      case "link-up":
        this.down.delete(`${linkBetween(node, neighbor)} ${node}`);
        report(event.t, `Board ${node}: the link to board ${neighbor} is up.`);
        break;
    }
  },

  /** Does what a code says, at this moment: sends (d, c, b), cuts and plugs in (x, p), switches off and on (k, r). */
  act(code) {
    const [a, b] = code.slice(1).split(".").map(Number);
    const boards = data.places.length;
    const known = Number.isInteger(a) && a >= 0 && a < ("xp".includes(code[0]) ? data.links.length : boards) && (b === undefined || Number.isInteger(b) && b >= 0 && b < boards);
    if (!known) throw new Error(`'${code}' is nothing that can be done to ${data.network}`);
    switch (code[0]) {
      case "d": ask("send", { from: a, message: { datagram: b } }); break;
      case "c": ask("send", { from: a, message: { confirmed: b } }); break;
      case "b": ask("send", { from: a, message: "broadcast" }); break;
      case "x": case "p": this.plug(a, code[0] === "p"); break;
      case "k": case "r": this.power(a, code[0] === "r"); break;
      default: throw new Error(`'${code}' is nothing that can be done to a mesh`);
    }
    this.actions.push([this.now - this.begin, code]);
    this.advance(this.now);
  },

  plug(link, plugged) {
    ask("plug", { cable: link, plugged });
    this.cut[plugged ? "delete" : "add"](link);
    const [a, b] = data.links[link];
    report(this.now / 1e9, `The cable between boards ${a} and ${b} is ${plugged ? "plugged in" : "cut"}.`, plugged ? "" : "bad");
  },

  power(board, on) {
    ask("power", { board, on });
    this.off[on ? "delete" : "add"](board);
    if (!on) data.neighbors[board].forEach((neighbor) => this.down.delete(`${linkBetween(board, neighbor)} ${board}`));
    report(this.now / 1e9, `Board ${board} is switched ${on ? "on" : "off"}.`, on ? "" : "bad");
  },

  /** Whether a link carries nothing, and whether all who are there know. */
  stateOf(link) {
    const [a, b] = data.links[link];
    const dead = this.cut.has(link) || this.off.has(a) || this.off.has(b);
    const noticed = [a, b].every((board) => this.off.has(board) || this.down.has(`${link} ${board}`));
    return dead ? (noticed ? "dead" : "unnoticed") : [a, b].some((board) => this.down.has(`${link} ${board}`)) ? "coming" : "whole";
  },
};

const counted = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

/** The boards that a packet went through until it arrived, as far as it has come. */
function pathOf(packet) {
  const path = [packet.source];
  for (const hop of packet.hops) {
    if (hop.arrived && hop.from === path[path.length - 1]) path.push(hop.to);
    if (hop.arrived && hop.to === packet.dest) break;
  }
  return path;
}

// What the page knows: the mesh, its routes, and the counters at any time of the trace.

const data = JSON.parse(document.getElementById("data").textContent);
const nodeCount = data.places.length;

const linkOf = new Map();
const linkKey = (a, b) => (a < b ? a * nodeCount + b : b * nodeCount + a);
data.links.forEach(([a, b], index) => linkOf.set(linkKey(a, b), index));

/** The link between two nodes, or -1. */
function linkBetween(a, b) {
  const link = linkOf.get(linkKey(a, b));
  return link === undefined ? -1 : link;
}

/** The nodes from one to another, both included. */
function route(from, to) {
  const path = [from];
  while (path[path.length - 1] !== to && path.length <= nodeCount) {
    const here = path[path.length - 1];
    path.push(data.neighbors[here][data.next[to][here]]);
  }
  return path;
}

/** The tree of a broadcast: everyone's parent and depth. It is the routes to the source, backwards. */
function broadcastTree(source) {
  const parent = data.next[source].map((port, node) => (node === source ? -1 : data.neighbors[node][port]));
  const depth = new Array(nodeCount).fill(-1);
  depth[source] = 0;
  for (let node = 0; node < nodeCount; node++) {
    const way = [];
    let here = node;
    while (depth[here] < 0) { way.push(here); here = parent[here]; }
    for (let i = way.length - 1, d = depth[here]; i >= 0; i--) depth[way[i]] = ++d;
  }
  return { source, parent, depth, deepest: Math.max(...depth) };
}

const trace = data.trace && {
  begin: data.trace.begin,
  length: Math.max(data.trace.length, 1),
  baud: data.trace.baud,
  kinds: data.trace.kinds,
  reasons: data.trace.reasons,
  packetsInAll: data.trace.packets_in_all,
  packets: data.trace.packets.map(([source, dest, kind, number, accepted, delivered]) =>
    ({ source, dest, kind, number, accepted, delivered, hops: [] })),
  hops: data.trace.hops.map(([packet, from, to, sent, received, retransmitted]) =>
    ({ packet, from, to, sent, received, retransmitted, link: linkBetween(from, to) })),
  marks: data.trace.marks.map(([at, what, node, link, about]) => ({ at, what, node, link, about })),
};
if (trace) {
  for (const hop of trace.hops) trace.packets[hop.packet].hops.push(hop);
  // What counts up: the beginnings and ends of hops beside the marks, all by time.
  const sendings = trace.hops.map((hop) => ({ at: hop.sent, what: "sent", node: hop.from, link: hop.link }));
  const arrivals = trace.hops.filter((hop) => hop.received !== null)
    .map((hop) => ({ at: hop.received, what: "received", node: hop.to, link: hop.link }));
  trace.counted = trace.marks.concat(sendings, arrivals).sort((a, b) => a.at - b.at);
  const times = trace.hops.filter((hop) => hop.received !== null).map((hop) => hop.received - hop.sent).sort((a, b) => a - b);
  trace.usualHop = times[times.length >> 1] || 1000;
  trace.longestHop = trace.hops.reduce((most, hop) => Math.max(most, (hop.received ?? hop.sent) - hop.sent), trace.usualHop);
  // Before the first packet, links come up and little else: most of that is left out of the time line.
  const first = trace.packets.reduce((least, p) => Math.min(least, p.accepted ?? Infinity), trace.length);
  trace.start = first < trace.length ? Math.max(0, first - (trace.length - first) / 20) : 0;
}

const freshNode = () => ({ accepted: 0, delivered: 0, sent: 0, received: 0, dropped: 0, detoured: 0 });
const freshLink = () => ({ frames: 0, retransmitted: 0, damaged: 0, downs: 0, miswired: 0, endsUp: 0, everUp: false });

/** Counters up to a time: forwards they go on, backwards they begin anew. */
const counters = {
  at: -1,
  place: 0,
  nodes: [],
  links: [],
  totals: freshNode(),
  drops: [],

  reset() {
    this.at = -1;
    this.place = 0;
    this.nodes = data.places.map(freshNode);
    this.links = data.links.map(freshLink);
    this.totals = freshNode();
    this.drops = trace ? trace.reasons.map(() => 0) : [];
  },

  seek(at) {
    if (!trace) return;
    if (at < this.at) this.reset();
    const { counted } = trace;
    while (this.place < counted.length && counted[this.place].at <= at) this.count(counted[this.place++]);
    this.at = at;
  },

  count({ what, node, link, about }) {
    if (what in this.totals) {
      this.nodes[node][what]++;
      this.totals[what]++;
    }
    if (what === "dropped") this.drops[about]++;
    if (link === undefined || link < 0) return;
    const counts = this.links[link];
    if (what === "sent") counts.frames++;
    else if (what === "retransmit") { counts.retransmitted++; counts.frames++; }
    else if (what === "damaged") counts.damaged++;
    else if (what === "miswired") counts.miswired++;
    else if (what === "up") { counts.endsUp = Math.min(2, counts.endsUp + 1); counts.everUp = true; }
    else if (what === "down") { counts.downs++; counts.endsUp = Math.max(0, counts.endsUp - 1); }
  },

  /** A link that was up and is not, at either end. */
  isDown(link) {
    const counts = this.links[link];
    return counts.everUp && counts.downs > 0 && counts.endsUp < 2;
  },
};
counters.reset();

/** The first place in a list, sorted by a key, whose key is at least a value. */
function firstAtLeast(list, key, value) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key(list[middle]) < value) low = middle + 1; else high = middle;
  }
  return low;
}

/** When a hop ends; one that nobody took is seen for half the usual time. */
const endOf = (hop) => hop.received ?? hop.sent + trace.usualHop / 2;

/** The hops under way at a time. */
function hopsAt(at) {
  const from = firstAtLeast(trace.hops, (hop) => hop.sent, at - trace.longestHop - 1);
  const under = [];
  for (let i = from; i < trace.hops.length && trace.hops[i].sent <= at; i++) {
    const hop = trace.hops[i];
    const end = endOf(hop);
    if (at <= end && hop.link >= 0) under.push(hop);
  }
  return under;
}

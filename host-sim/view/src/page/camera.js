// From the drawing's places to the canvas: moved by dragging, scaled by the wheel. Shared with the page of play/.

const canvas = document.getElementById("mesh");

const camera = {
  scale: 40, x: 0, y: 0, width: 0, height: 0, size: 1, moved: false,

  /** Fits the canvas to its place on the page. */
  resize() {
    const { width, height } = canvas.parentElement.getBoundingClientRect();
    const dots = window.devicePixelRatio || 1;
    this.width = width;
    this.height = height;
    canvas.width = Math.round(width * dots);
    canvas.height = Math.round(height * dots);
    this.size = Number(getComputedStyle(document.documentElement).getPropertyValue("--size")) || 1;
    if (!this.moved) this.fit();
  },

  /** Shows all. */
  fit() {
    const xs = data.places.map((p) => p[0]), ys = data.places.map((p) => p[1]);
    for (const [x, y, r] of data.clusters) { xs.push(x - r, x + r); ys.push(y - r, y + r); }
    data.links.forEach(([a, , , bend], link) => {
      if (bend === 0) return;
      const [x, y] = onLink(link, a, 0.5);
      xs.push(x);
      ys.push(y);
    });
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const room = 44;
    const across = (this.width - 2 * room) / Math.max(right - left, 1);
    const down = (this.height - 2 * room) / Math.max(bottom - top, 1);
    this.scale = Math.max(2, Math.min(across, down, Math.max(110, this.height / 8)));
    this.x = (left + right) / 2;
    this.y = (top + bottom) / 2;
    this.moved = false;
  },

  toScreen(x, y) {
    return [(x - this.x) * this.scale + this.width / 2, (y - this.y) * this.scale + this.height / 2];
  },

  toPlace(sx, sy) {
    return [(sx - this.width / 2) / this.scale + this.x, (sy - this.height / 2) / this.scale + this.y];
  },

  /** Scales about a point of the screen, which stays where it is. */
  zoom(times, sx = this.width / 2, sy = this.height / 2) {
    const [x, y] = this.toPlace(sx, sy);
    this.scale = Math.max(2, Math.min(400, this.scale * times));
    const [nx, ny] = this.toPlace(sx, sy);
    this.x += x - nx;
    this.y += y - ny;
    this.moved = true;
  },

  pan(dx, dy) {
    this.x -= dx / this.scale;
    this.y -= dy / this.scale;
    this.moved = true;
  },

  get nodeRadius() {
    return Math.max(2.2, Math.min(17 * this.size, this.scale * 0.24));
  },
};

/** The control point of a link's curve. */
function controlOf(link) {
  const [a, b, , bend] = data.links[link];
  const [ax, ay] = data.places[a], [bx, by] = data.places[b];
  return [(ax + bx) / 2 + bend * (ay - by), (ay + by) / 2 + bend * (bx - ax)];
}

/** A point on the way from a node over a link. */
function onLink(link, from, share) {
  const [a, b] = data.links[link];
  const t = from === a ? share : 1 - share, s = 1 - t;
  const [cx, cy] = controlOf(link);
  const [ax, ay] = data.places[a], [bx, by] = data.places[b];
  return [s * s * ax + 2 * s * t * cx + t * t * bx, s * s * ay + 2 * s * t * cy + t * t * by];
}

/** The node under a point of the screen, or -1. */
function nodeAt(sx, sy) {
  const reach = Math.max(camera.nodeRadius + 3, 8);
  let best = -1, least = reach * reach;
  data.places.forEach(([x, y], node) => {
    const [px, py] = camera.toScreen(x, y);
    const d = (px - sx) ** 2 + (py - sy) ** 2;
    if (d < least) { least = d; best = node; }
  });
  return best;
}

/** The link under a point of the screen, or -1. */
function linkAt(sx, sy) {
  const pieces = 12;
  let best = -1, least = 36;
  data.links.forEach(([a], link) => {
    let [px, py] = camera.toScreen(...onLink(link, a, 0));
    for (let i = 1; i <= pieces; i++) {
      const [qx, qy] = camera.toScreen(...onLink(link, a, i / pieces));
      const [dx, dy] = [qx - px, qy - py];
      const along = Math.max(0, Math.min(1, ((sx - px) * dx + (sy - py) * dy) / (dx * dx + dy * dy || 1)));
      const d = (px + along * dx - sx) ** 2 + (py + along * dy - sy) ** 2;
      if (d < least) { least = d; best = link; }
      [px, py] = [qx, qy];
    }
  });
  return best;
}

/** Where a pointer is on the canvas. */
const pointOf = (event) => {
  const { left, top } = canvas.getBoundingClientRect();
  return [event.clientX - left, event.clientY - top];
};
canvas.addEventListener("pointerleave", () => {
  state.overNode = state.overLink = -1;
  showHint(0, 0);
  state.dirty = true;
});
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  camera.zoom(Math.exp(-event.deltaY / 500), ...pointOf(event));
  state.dirty = true;
}, { passive: false });
byId("zoom-in").addEventListener("click", () => { camera.zoom(1.3); state.dirty = true; });
byId("zoom-out").addEventListener("click", () => { camera.zoom(1 / 1.3); state.dirty = true; });
byId("fit").addEventListener("click", () => { camera.fit(); state.dirty = true; });

// Colors, and the shapes that meshes are drawn with; shared with the page of play/.

const context = canvas.getContext("2d");

// The palette of Okabe and Ito, told apart by people who see few colors too; the first is for links within clusters.
const linkColors = {
  light: ["#9aa6b2", "#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#0072b2", "#d55e00", "#8b6d3f"],
  dark: ["#5d6b7a", "#3f8fc4", "#c98b05", "#0c9c78", "#b7638f", "#2f7fc0", "#cf6a1c", "#a2855a"],
};
const packetColors = {
  light: ["#0072b2", "#d55e00", "#009e73", "#7fbfa9", "#c8372d", "#b8860b", "#cc79a7"],
  dark: ["#56b4e9", "#ff9447", "#2fcf9f", "#9fd9c6", "#ff6b5e", "#f0c24b", "#e59ac4"],
};
let theme = {};

/** Reads the colors of the style in use. */
function readTheme() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["page", "card", "line", "text", "soft", "accent", "node", "node-line", "cluster", "bad", "good"]) {
    theme[name] = style.getPropertyValue(`--${name}`).trim();
  }
  const name = document.documentElement.dataset.theme === "dark" ? "dark" : "light";
  theme.links = linkColors[name];
  theme.packets = packetColors[name];
  theme.dark = name === "dark";
}

function linkColor(kind) {
  return theme.links[kind % theme.links.length];
}

/** An empty canvas, but for the clusters. */
function clear() {
  const dots = window.devicePixelRatio || 1;
  context.setTransform(dots, 0, 0, dots, 0, 0);
  context.clearRect(0, 0, camera.width, camera.height);
  context.lineCap = "round";
  drawClusters();
}

function drawClusters() {
  for (const [x, y, r, depth] of data.clusters) {
    const [sx, sy] = camera.toScreen(x, y);
    context.beginPath();
    context.arc(sx, sy, r * camera.scale, 0, 2 * Math.PI);
    context.globalAlpha = theme.dark ? 0.075 : 0.055;
    context.fillStyle = theme.cluster;
    context.fill();
    context.globalAlpha = depth === 0 ? 0.28 : 0.18;
    context.strokeStyle = theme.cluster;
    context.lineWidth = 1;
    context.stroke();
  }
  context.globalAlpha = 1;
}

function traceLink(link) {
  const [a, b, , bend] = data.links[link];
  context.moveTo(...camera.toScreen(...data.places[a]));
  const end = camera.toScreen(...data.places[b]);
  if (bend === 0) context.lineTo(...end);
  else context.quadraticCurveTo(...camera.toScreen(...controlOf(link)), ...end);
}

function strokeLinks(links, color, width, alpha = 1, dash = []) {
  context.beginPath();
  links.forEach(traceLink);
  context.strokeStyle = color;
  context.lineWidth = width;
  context.globalAlpha = alpha;
  context.setLineDash(dash);
  context.stroke();
  context.setLineDash([]);
  context.globalAlpha = 1;
}

function arrow(link, from, color) {
  const [x, y] = camera.toScreen(...onLink(link, from, 0.6));
  const [bx, by] = camera.toScreen(...onLink(link, from, 0.5));
  const angle = Math.atan2(y - by, x - bx), size = Math.max(3, Math.min(8, camera.scale / 7));
  context.beginPath();
  context.moveTo(x + size * Math.cos(angle), y + size * Math.sin(angle));
  for (const turn of [2.5, -2.5]) context.lineTo(x + size * Math.cos(angle + turn), y + size * Math.sin(angle + turn));
  context.closePath();
  context.fillStyle = color;
  context.fill();
}

const packetRadius = () => Math.max(2.6, Math.min(8, camera.scale * 0.11));

function dot(x, y, radius, color) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fillStyle = color;
  context.fill();
  context.lineWidth = 1.2;
  context.strokeStyle = theme.card;
  context.stroke();
}

// Whether everyone can use the page: what is asked of it at each size and in each mode. The test beside this file evaluates `barriers()`.

const visible = (part) => part.getClientRects().length > 0 && getComputedStyle(part).visibility !== "hidden";

function luminance([r, g, b]) {
  const [x, y, z] = [r, g, b].map((part) => (part /= 255) <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
}

const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
/** A color of the style, over another. */
function dots(color, over = [255, 255, 255]) {
  pen.fillStyle = `rgb(${over.join(" ")})`;
  pen.fillRect(0, 0, 1, 1);
  pen.fillStyle = color;
  pen.fillRect(0, 0, 1, 1);
  return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
}

/** What is behind the text of a part. */
function background(part) {
  if (!part) return [255, 255, 255];
  return dots(getComputedStyle(part).backgroundColor, background(part.parentElement));
}

function nameOf(part) {
  const label = part.labels && part.labels[0] ? part.labels[0].textContent : "";
  return (part.getAttribute("aria-label") || label || part.textContent || "").trim();
}

function barriers() {
  const found = [];
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) found.push(`the page is ${document.documentElement.scrollWidth} wide in a window of ${width}`);
  for (const part of document.querySelectorAll("button, input, summary, output, h1, h2, table")) {
    if (!visible(part)) continue;
    const { left, right } = part.getBoundingClientRect();
    if (left < -1 || right > width + 1) found.push(`${part.tagName} ${part.id || part.textContent} from ${left} to ${right} in a window of ${width}`);
  }
  for (const part of document.querySelectorAll("button, input, canvas, svg, aside, nav, section[aria-label]")) {
    if (visible(part) && part.getAttribute("aria-hidden") !== "true" && !part.closest('[aria-hidden="true"]') && !nameOf(part)) found.push(`${part.tagName} ${part.id} has no name`);
    if (part.tabIndex > 0) found.push(`${part.id} is out of the order`);
  }
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = words.nextNode(); text; text = words.nextNode()) {
    const part = text.parentElement;
    if (!text.textContent.trim() || !visible(part) || part.closest("svg, script, style, :disabled, .heard, #hint")) continue;
    const behind = background(part), front = dots(getComputedStyle(part).color, behind);
    const [light, dark] = [luminance(front), luminance(behind)].sort((a, b) => b - a);
    const contrast = (light + 0.05) / (dark + 0.05);
    if (contrast < 4.5) found.push(`"${text.textContent.trim()}" has a contrast of ${contrast.toFixed(2)}`);
  }
  if (document.querySelectorAll("h1").length !== 1 || !document.documentElement.lang || !document.title) found.push("no title");
  const { width: w, height: h } = canvas.getBoundingClientRect();
  if (w < 300 || h < 250) found.push(`the mesh has ${w} by ${h}`);
  return found;
}

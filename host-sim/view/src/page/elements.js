// Elements of the page, made from text; shared with the page of play/.

const byId = (id) => document.getElementById(id);

/** An element with text or children; text is never read as HTML. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined).map((c) => (typeof c === "number" ? String(c) : c)));
  return made;
}

function figures(list) {
  return element("dl", { class: "figures" }, ...list.map(([name, value, bad]) =>
    element("div", { class: bad && value > 0 ? "bad" : undefined }, element("dt", {}, name), element("dd", {}, value))));
}

function row(cells) {
  return element("tr", {}, ...cells.map((cell) => element("td", { class: cell && cell.bad ? "bad" : undefined },
    cell && cell.bad !== undefined ? cell.value : cell)));
}

const headings = (names) => element("tr", {}, ...names.map((name) => element("th", {}, name)));

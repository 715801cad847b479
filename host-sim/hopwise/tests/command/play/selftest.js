// What the tests beside this file ask of the page.

/** Whether a condition holds before long. */
async function until(condition) {
  for (let i = 0; i < 300; i++) {
    if (condition()) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

function onScreen([x, y]) {
  const { left, top } = canvas.getBoundingClientRect();
  return [left + x, top + y];
}
const placeOf = (node) => onScreen(camera.toScreen(...data.places[node]));
/** A point of a cable that is in no other's way. */
const placeOfLink = (a, b) => onScreen(camera.toScreen(...onLink(linkBetween(a, b), a, 0.7)));
function middleOf(selector) {
  const { left, top, width, height } = document.querySelector(selector).getBoundingClientRect();
  return [left + width / 2, top + height / 2];
}

/** How long it takes to go on and to draw, in milliseconds, until the dots are there. */
async function frameTimes(count) {
  const times = [];
  for (let i = 0; i < count; i++) {
    await new Promise((resolve) => setTimeout(resolve, 40));
    const begin = performance.now();
    carryOn(0.016);
    draw();
    context.getImageData(0, 0, 1, 1);
    times.push(performance.now() - begin);
  }
  return times;
}

// What the test beside this file needs in the page.

function middleOf(selector) {
  const { left, top, width, height } = document.querySelector(selector).getBoundingClientRect();
  return [left + width / 2, top + height / 2];
}

async function until(holds) {
  for (let tries = 0; tries < 500; tries++) {
    if (holds()) return true;
    await new Promise((later) => setTimeout(later, 20));
  }
  return false;
}

const cable = (place) => farEnd(place);

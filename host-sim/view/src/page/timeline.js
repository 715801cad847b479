// Time: play, pause, speed, the slider and the strip of activity above it.

const speeds = [1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001, 0.00005];
/** Hops of a tree or a route in a second. */
const stepSpeeds = [4, 2, 1.5, 1, 0.5, 0.25];

const slider = document.getElementById("time");
const playButton = document.getElementById("play");

const timeline = {
  /** How long what is shown takes: microseconds of a trace, or hops. */
  get length() {
    if (state.mode === "broadcast") return state.tree.deepest;
    if (state.mode === "route") return Math.max(state.path.length - 1, 0);
    if (state.mode === "wiring") return 0;
    return trace ? trace.length : 0;
  },

  /** Where the slider begins. */
  get start() { return state.mode === "replay" && trace ? trace.start : 0; },

  get now() { return state.mode === "replay" ? state.time : state.step; },

  seek(at) {
    const place = Math.max(this.start, Math.min(this.length, at));
    if (state.mode === "replay") {
      state.time = place;
      counters.seek(place);
    } else {
      state.step = place;
    }
    this.show();
    state.dirty = true;
  },

  advance(seconds) {
    const pace = state.mode === "replay" ? state.speed * 1e6 : state.stepSpeed;
    this.seek(this.now + seconds * pace);
    if (this.now >= this.length) this.play(false);
  },

  play(on) {
    if (on && this.now >= this.length) this.seek(this.start);
    state.playing = on && this.length > 0;
    playButton.classList.toggle("playing", state.playing);
    state.dirty = true;
  },

  /** A step faster (-1) or slower (+1) in the list of speeds. */
  pace(step) {
    const [list, key] = state.mode === "replay" ? [speeds, "speed"] : [stepSpeeds, "stepSpeed"];
    const place = list.indexOf(state[key]) + step;
    state[key] = list[Math.max(0, Math.min(list.length - 1, place))];
    this.show();
  },

  show() {
    slider.min = this.start;
    slider.max = Math.max(this.length, this.start + 1e-9);
    slider.value = this.now;
    document.querySelector("footer").hidden = state.mode === "wiring";
    const clock = document.getElementById("clock"), speed = document.getElementById("speed");
    if (state.mode === "replay") {
      clock.textContent = trace ? `${(trace.begin + state.time / 1e6).toFixed(5)} s` : "";
      speed.textContent = state.speed < 1 ? `1/${Math.round(1 / state.speed)} speed` : "real time";
    } else {
      clock.textContent = `hop ${Math.floor(state.step + 1e-9)} of ${this.length}`;
      speed.textContent = `${state.stepSpeed} hops/s`;
    }
  },
};

/** The speed at which a usual hop takes about half a second on the screen. */
function goodSpeed() {
  return speeds.find((speed) => trace.usualHop / 1e6 / speed >= 0.4) ?? speeds[speeds.length - 1];
}

const densityCanvas = document.getElementById("density");

/** Frames in each slice of time; drops and downs in red. */
function drawDensity() {
  const { width, height } = densityCanvas.getBoundingClientRect();
  const dots = window.devicePixelRatio || 1;
  densityCanvas.width = Math.round(width * dots);
  densityCanvas.height = Math.round(height * dots);
  const pen = densityCanvas.getContext("2d");
  pen.scale(dots, dots);
  if (state.mode !== "replay" || !trace) return;
  const slices = Math.max(1, Math.floor(width / 3));
  const busy = new Array(slices).fill(0), bad = new Array(slices).fill(0);
  const slice = (at) => Math.min(slices - 1, Math.floor((at - trace.start) / (trace.length - trace.start) * slices));
  for (const hop of trace.hops) busy[slice(hop.sent)]++;
  for (const { at, what } of trace.marks) if (at >= trace.start && (what === "dropped" || what === "down")) bad[slice(at)]++;
  const most = Math.max(1, ...busy), worst = Math.max(1, ...bad);
  busy.forEach((count, i) => {
    pen.fillStyle = theme.accent;
    pen.globalAlpha = 0.45;
    const h = Math.sqrt(count / most) * (height - 4);
    pen.fillRect(i * 3, height - h, 2, h);
    pen.fillStyle = theme.bad;
    pen.globalAlpha = 0.9;
    const b = bad[i] ? 3 + 8 * Math.sqrt(bad[i] / worst) : 0;
    pen.fillRect(i * 3, height - b, 2, b);
  });
}

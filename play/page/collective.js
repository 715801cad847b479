// A collective: the rounds that the schedules of all boards come to, played one after the other.

const collective = {
  done: null, at: 0, labels: null,

  run(operation) {
    try {
      this.done = ask("collective", { network: data.network, operation });
    } catch (error) { return report(null, `${error.message}.`, "bad"); }
    this.at = still ? this.done.rounds.length : 0;
    this.show();
    setPlaying(true);
    const { op, rounds, messages, method } = this.done.report;
    report(null, `${op}: ${counted(rounds, "round")}, ${counted(messages, "message")}, ${method}.`);
  },

  end() {
    this.done = this.labels = null;
    state.dirty = true;
  },

  get over() { return !this.done || this.at >= this.done.rounds.length; },

  advance(rounds) {
    if (this.over) return;
    const before = Math.floor(this.at);
    this.at = Math.min(this.done.rounds.length, this.at + rounds);
    if (Math.floor(this.at) !== before) this.show();
    state.dirty = true;
  },

  show() {
    this.labels = this.over ? this.done.held : null;
    if (this.labels?.some((label) => label.length > 5)) this.labels = null;
    if (this.over) report(null, `Every board holds its result, and each is ${this.done.report.correct ? "correct" : "WRONG"}.`, this.done.report.correct ? "good" : "bad");
    showTool();
  },

  draw(marked) {
    const round = this.done.rounds[Math.floor(this.at)];
    if (!round) return this.done.held.forEach((_, node) => marked.set(node, theme.good));
    const share = this.at % 1, color = theme.packets[2];
    strokeLinks(round.map(([from, to]) => linkBetween(from, to)), color, cableWidth() + 1, 0.5);
    for (const [from, to] of round) {
      moving(linkBetween(from, to), from, Math.min(1, share / 0.85), color);
      marked.set(from, color);
    }
  },
};

// The rounds of a collective: a trace in which a round takes a second. Where others say time and packets, this says rounds and messages.

if (data.rounds) {
  const { operation, method, sent } = data.rounds;
  const messages = sent.reduce((sum, round) => sum + round.length, 0);
  const largest = sent.flat().reduce((most, [, , bytes]) => Math.max(most, bytes), 0);
  /** The round that is shown, from 1. */
  const roundNow = () => Math.min(sent.length, Math.floor(state.time / 1e6) + 1);

  const card = element("section", { class: "card", id: "rounds" });
  byId("selection").before(card);
  const showRounds = () => {
    card.hidden = state.mode !== "replay";
    if (card.hidden) return;
    const now = roundNow();
    // Those around the present one, if there are many.
    const first = Math.max(0, Math.min(now - 6, sent.length - 12));
    const rows = sent.slice(first, first + 12).map((round, i) => {
      const bytes = round.reduce((sum, message) => sum + message[2], 0);
      const shown = row([String(first + i + 1), String(round.length), String(bytes)]);
      if (first + i + 1 === now) {
        shown.setAttribute("aria-current", "step");
        shown.style.fontWeight = "650";
      }
      return shown;
    });
    card.replaceChildren(element("h2", {}, operation, element("small", {}, method)),
      figures([["rounds", sent.length], ["messages", messages], ["largest, bytes", largest]]),
      element("table", {}, headings(["round", "messages", "bytes"]), ...rows));
  };

  const showTime = timeline.show;
  timeline.show = function () {
    showTime.call(this);
    if (state.mode === "replay") {
      byId("clock").textContent = `round ${roundNow()} of ${sent.length}`;
      byId("speed").textContent = `${state.speed} rounds/s`;
    }
    showRounds();
  };

  document.querySelector('[data-mode="replay"]').textContent = "Rounds";
  byId("facts").textContent = `${nodeCount} nodes · ${data.links.length} links · ${operation}: ${sent.length} rounds, ${messages} messages`;
  timeline.show();
}

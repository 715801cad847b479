// The engine: Rust, compiled for browsers. Requests and responses are JSON in its memory.

const engine = (() => {
  const text = atob(document.getElementById("engine").textContent.trim());
  const code = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  return new WebAssembly.Instance(new WebAssembly.Module(code)).exports;
})();

/** What the engine responds to a request; a sentence of its own is thrown. */
function ask(what, request = {}) {
  const bytes = new TextEncoder().encode(JSON.stringify({ do: what, ...request }));
  const place = engine.hopwise_allocate(bytes.length);
  new Uint8Array(engine.memory.buffer, place, bytes.length).set(bytes);
  const length = engine.hopwise_respond();
  const { ok, error } = JSON.parse(new TextDecoder().decode(new Uint8Array(engine.memory.buffer, engine.hopwise_response(), length)));
  if (error !== undefined) throw new Error(error);
  return ok;
}

/** For scripts from outside. */
window.hopwise = {
  /** The nodes of a route, both ends included. */
  route: (network, from, to) => ask("route", { network, from, to }).path,
  /** The figures that `hopwise topo --json` prints. */
  topo: (network) => ask("topo", { network }),
};

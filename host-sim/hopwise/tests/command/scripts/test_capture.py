"""Logs of all boards as one trace: the same from boards and from recorded streams, and in words. Whether clocks are aligned as they should be
is tested against the time of the emulated world, in `rig_capture.rs`."""

import json

from support import IMAGE, Test, needs_image

MESH = 'network = "rdn(ring(3),1)"\nboard = "nucleo-f446re"\nprobe = "emulated"\n'


def in_order_of_cause(test, lines):
    """No packet is received before it was sent, on the common time line."""
    first = {}
    for line in lines:
        if line["event"] == "sent":
            key = (json.dumps(line["packet"]), line["dest"])
            first[key] = min(line["t"], first.get(key, line["t"]))
    compared = 0
    for arrival in [line for line in lines if line["event"] == "received"][:400]:
        sent = first.get((json.dumps(arrival["packet"]), arrival["dest"]))
        if sent is not None:
            compared += 1
            test.assertGreater(arrival["t"], sent, arrival)
    test.assertGreater(compared, 200)


@needs_image
class Capture(Test):
    def lines(self, path):
        """The lines of a trace after the first, which names its network."""
        text = (self.folder / path).read_text()
        self.assertTrue(text.endswith("\n"), "the last line is complete")
        header, *lines = map(json.loads, text.splitlines())
        self.assertIsInstance(header["network"], str)
        return lines

    def test_emulated_boards_and_their_streams_give_the_same_trace(self):
        mesh = self.write("mesh.toml", MESH)
        trace, again, streams = map(self.path, ["trace.jsonl", "again.jsonl", "streams"])
        capture = f"capture {mesh} --elf {IMAGE} -o"
        summary = self.json(f"{capture} {trace} --record {streams} --traffic 20 --for 1500ms")
        found = (summary["nodes"], summary["undecodable"], summary["nodes_not_aligned"])
        self.assertEqual(found, (18, 0, []))
        self.assertGreater(summary["clock_pairs"], 200)
        # Boards start up to 190 ms apart, so clocks that are not aligned are off by that.
        self.assertLess(summary["clock_residual_95_us"], 300.0)

        lines = self.lines(trace)
        times = [line["t"] for line in lines]
        self.assertEqual(times, sorted(times))
        self.assertGreaterEqual(times[0], 0.0)
        names = {"link-up", "accepted", "sent", "received", "forwarded", "delivered", "log"}
        self.assertEqual(names - {line["event"] for line in lines}, set())
        missed = [line for line in lines if " { " in (line.get("text") or "")]
        self.assertEqual(missed, [], "events that were not read")
        in_order_of_cause(self, lines)

        self.assertEqual(self.json(f"{capture} {again} --recorded {streams}"), summary)
        other = self.lines(again)
        self.assertEqual(len(other), len(lines))
        as_text = [{json.dumps(line, sort_keys=True) for line in of} for of in (lines, other)]
        self.assertEqual(as_text[0], as_text[1])

        # Traces of boards are reported and drawn.
        report = self.json(f"report {trace}")
        self.assertEqual((report["network"], report["unknown_events"]), ("rdn(ring(3),1)", 0))
        self.assertGreater(report["delivery"]["datagram"]["delivered"], 100)
        # Only while links come up do packets go round those that are not up yet.
        followed, computed = report["paths"]["followed"], report["paths"]["computed"]
        self.assertGreater(followed, 100)
        self.assertGreater(computed * 10, followed * 9)
        page = self.folder / "page.html"
        self.run_command(f"view {trace} -o {page}")
        self.assertIn("rdn(ring(3),1)", page.read_text())

    def test_lines_of_a_capture_are_told_in_words(self):
        mesh, trace = self.write("mesh.toml", MESH), self.path("trace.jsonl")
        line = f"capture {mesh} -o {trace} --elf {IMAGE} --traffic 20 --for 1400ms --filter event=forwarded,link-up"
        said = self.run_command(line).stdout
        self.assertNotIn("\x1b", said)
        words = [line.split() for line in said.splitlines()]
        forwarded = [line for line in words if line[4:5] == ["forwarded"]]
        self.assertGreater(len(forwarded), 20)
        neighbors = {}
        for line in forwarded:
            time, node, arrow, far, _, kind, number, of, node_of, source = line
            self.assertGreaterEqual(float(time), 0.0)
            self.assertGreaterEqual(int(number), 0)
            self.assertEqual((arrow, of, node_of), ("->", "of", "node"), line)
            self.assertIn(kind, ["datagram", "request", "response"])
            if node not in neighbors:
                found = self.json(f"neighbors rdn(ring(3),1) {node}")["neighbors"]
                neighbors[node] = set(found)
            self.assertIn(int(far), neighbors[node], line)
            self.assertLess(int(source), 18, line)
        self.assertIn(" is there\n", said)

"""`hopwise report` and `hopwise cost`: tables whose rows are compared with each other."""

from support import IMAGE, Test, needs_image


class Report(Test):
    def test_detours_are_longer_and_named(self):
        trace = self.path("trace.jsonl")
        self.run_command(f"sim ring(6) --packets 300 --events '0s cut 0.0' --trace {trace}")
        paths = self.json(f"report {trace}")["paths"]
        self.assertGreater(paths["longer"], 0)
        longer = 0
        for example in paths["examples"]:
            path, computed = example["path"], example["computed"]
            self.assertEqual((path[0], path[-1]), (computed[0], computed[-1]))

            def is_cut(path):
                return any({*hop} == {0, 1} for hop in zip(path, path[1:]))

            # The cable that was cut is on the computed path, and not on the one taken.
            self.assertEqual((is_cut(computed), is_cut(path)), (True, False), example)
            longer += len(path) > len(computed)
        self.assertGreater(longer, 0)
        self.assertIn("| packet | path it took | computed path |", self.run_command(f"report {trace}").stdout)


@needs_image
class Cost(Test):
    def test_cost_has_a_row_for_every_payload_with_and_without_a_key(self):
        costs = self.json(f"cost --elf {IMAGE} --network ring(5) --profile")
        self.assertEqual(costs["board"], "nucleo-f446re")
        for row in costs["rows"]:
            self.assertEqual((row["operation"], row["network"]), ("forward", "ring(5)"))
            self.assertIn(row["instructions"], range(3_000, 60_000))
            self.assertIn(row["sent_bytes"] - row["payload"], range(10, 60), row)
            rooms = sum(room["instructions"] for room in row["rooms"])
            # Each room is rounded.
            self.assertLess(abs(row["instructions"] - rooms), 150, row)
        kinds = {(row["payload"], row["payload_bytes"], row["keyed"]) for row in costs["rows"]}
        self.assertEqual(len(kinds), 8)

"""Experiments from Python, and the notebook that shows them. `cargo test -p hopwise --test command python` runs this."""

import importlib.util
import json
import os
import tempfile
import unittest

from hopwise import HopwiseError, experiment

PLAN = {
    "networks": ["ring(6)", "hypercube(3)"],
    "seeds": 3,
    "load": {"rate": [0.05, 0.1], "cycles": 2048, "most-cycles": 2048},
    "sim": {"for": "1s", "events": ["", "500ms cut 0.0"]},
}


def installed(*packages):
    return all(importlib.util.find_spec(package) for package in packages)


class Experiments(unittest.TestCase):
    def test_a_plan_becomes_a_table(self):
        with tempfile.TemporaryDirectory() as jobs:
            results = experiment(PLAN, jobs=jobs)
            self.assertEqual(len([name for name in os.listdir(jobs) if name.startswith("job-")]), 2 * 3 * (2 + 2))
            again = experiment(PLAN, jobs=jobs)
        self.assertEqual(again.runs, results.runs)
        latency = [row for row in results.figures if row["figure"] == "latency_mean"]
        self.assertEqual([(row["network"], row["rate_packets_per_node_cycle"], row["seeds"]) for row in latency], [
            ("ring(6)", 0.05, 3), ("ring(6)", 0.1, 3), ("hypercube(3)", 0.05, 3), ("hypercube(3)", 0.1, 3),
        ])
        for row in latency:
            runs = [run["value"] for run in results.runs if run["figure"] == "latency_mean" and run["command"][:40] == row["command"][:40]
                    and run["network"] == row["network"]
                    and run["rate_packets_per_node_cycle"] == row["rate_packets_per_node_cycle"]]
            self.assertEqual(len(runs), 3)
            self.assertAlmostEqual(sum(runs) / 3, row["mean"])
            self.assertTrue(0 < row["ci95"] < row["mean"])
        self.assertIn("<svg", results.page)
        table = results.table("latency_mean")
        self.assertEqual(len(table), 4)
        if installed("pandas"):
            self.assertEqual(list(table["network"].unique()), ["ring(6)", "hypercube(3)"])

    def test_a_plan_that_makes_no_sense_is_refused_in_a_sentence(self):
        with self.assertRaises(HopwiseError) as caught:
            experiment({"networks": ["ring(6)"], "loaf": {}})
        self.assertIn("there is no [loaf]", str(caught.exception))
        with self.assertRaises(HopwiseError) as caught:
            experiment(PLAN, command=["/nowhere/hopwise"])
        self.assertEqual(caught.exception.kind, "no-command")

    @unittest.skipUnless(installed("pandas", "matplotlib"), "the notebook needs pandas and matplotlib")
    def test_the_notebook_plots(self):
        import matplotlib

        matplotlib.use("Agg")
        path = os.path.join(os.path.dirname(__file__), "..", "examples", "experiment.ipynb")
        with open(path, encoding="utf-8") as file:
            cells = [cell["source"] for cell in json.load(file)["cells"] if cell["cell_type"] == "code"]
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                names = {}
                for cell in cells:
                    exec(compile(cell, path, "exec"), names)
                with open("latency.svg", encoding="utf-8") as file:
                    self.assertIn("torus(4,4), adaptive", names["axes"].get_legend_handles_labels()[1])
                    self.assertIn("<svg", file.read())
            finally:
                os.chdir(before)
        self.assertEqual(len(names["latency"]), 3 * 4 * 2)


if __name__ == "__main__":
    unittest.main()

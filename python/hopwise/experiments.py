"""Experiments of the `hopwise` command, as tables.

    from hopwise import experiment

    results = experiment({
        "networks": ["torus(4,4)", "hypercube(4)"],
        "seeds": 5,
        "load": {"rate": [0.05, 0.2, 0.4]},
    })
    results.table()    # a line for each figure: network, options, mean, interval

What can be in a plan says docs/experiments.md.
"""

import csv
import json
import os
import shlex
import subprocess
import tempfile
from typing import Any, Dict, List, Optional, Union

from .errors import HopwiseError

Plan = Union[str, "os.PathLike[str]", Dict[str, Any]]


class Results:
    """What an experiment found."""

    def __init__(self, runs: List[Dict[str, Any]], figures: List[Dict[str, Any]], remarks: List[str], page: str):
        #: A dict for every figure of every run: kind, network, the parameters by name with unit, seed, figure, value, unit, command; of a
        #: run that cannot be, value is None and reason says why.
        self.runs = runs
        #: A dict for every figure over all seeds: kind, network, scenario, figure, mean, ci95, unit, seeds, command, and the parameters
        #: by name with unit.
        self.figures = figures
        #: Checks that failed, and faults that met no traffic.
        self.remarks = remarks
        #: The page with charts, as HTML.
        self.page = page

    def table(self, figure: Optional[str] = None):
        """The figures over all seeds, or one of them: a pandas.DataFrame where pandas is installed, else a list of dicts."""
        return _table([row for row in self.figures if figure in (None, row["figure"])])

    def tidy(self):
        """The figures of every run, in the same form."""
        return _table(self.runs)


def experiment(plan: Plan, jobs: Optional[str] = None, command: Optional[List[str]] = None) -> Results:
    """Runs an experiment, on all cores, and waits for it.

    The plan is a file, or what would be in it. In the folder `jobs`, what is done is kept: killed and called again with the same plan, it
    goes on where it was. The command is looked for as by `Mesh`.
    """
    words = command or shlex.split(os.environ.get("HOPWISE", "hopwise"))
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(plan, dict):
            path = os.path.join(folder, "experiment.toml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(_toml(plan))
        else:
            path = os.fspath(plan)
        arguments = ["experiment", path, "--jobs", jobs or os.path.join(folder, "jobs"), "--out", folder]
        try:
            done = subprocess.run([*words, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        except OSError as error:
            raise HopwiseError("no-command", f"{words[0]} does not start: {error}") from error
        # Status 1 is a check that failed, which is a result too.
        if done.returncode not in (0, 1) or not os.path.exists(os.path.join(folder, "experiment.json")):
            raise HopwiseError("refused", done.stderr.strip() or "the experiment was not run")
        with open(os.path.join(folder, "experiment.csv"), encoding="utf-8", newline="") as file:
            runs = [_run(row) for row in csv.DictReader(file)]
        with open(os.path.join(folder, "experiment.json"), encoding="utf-8") as file:
            results = json.load(file)
        with open(os.path.join(folder, "experiment.html"), encoding="utf-8") as file:
            page = file.read()
    figures = [{**row, **row["parameters"]} for row in results["figures"]]
    return Results(runs, figures, results["remarks"], page)


def _run(row):
    value = None if row["value"] == "n/a" else float(row["value"])
    return {**{name: _number(text) for name, text in row.items()}, "seed": int(row["seed"]), "value": value}


def _number(text):
    try:
        return float(text)
    except ValueError:
        return text


def _table(rows):
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)


def _toml(plan):
    plain = {key: value for key, value in plan.items() if not isinstance(value, dict)}
    lines = [f"{key} = {_value(value)}" for key, value in plain.items()]
    for name, options in plan.items():
        if isinstance(options, dict):
            lines.append(f"[{name}]")
            lines.extend(f"{key} = {_value(value)}" for key, value in options.items())
    return "\n".join(lines) + "\n"


def _value(value):
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(one) for one in value) + "]"
    if isinstance(value, (bool, str)):
        # A JSON text is a TOML text too.
        return json.dumps(value, ensure_ascii=False)
    return repr(value)

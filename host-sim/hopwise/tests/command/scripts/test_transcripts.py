"""Transcripts: files of cases, each of which runs commands in a folder of its own and looks at what they print. HOPWISE_TRANSCRIPT names the
file. A case begins with `== NAME`, and has lines of these kinds:

- `file NAME`, `program NAME`: the indented lines below are the text of that file, or of that program in the language of the shell.
- `$ ARGUMENTS`: runs `hopwise`; quotes hold blanks together. With `=> SENTENCE` it is refused in that one sentence.
- `exit STATUS`, right below: how it ends, if not well. With 2 it must have printed nothing, and said why.
- `| TEXT`: such lines are all that was printed; `> TEXT`: this was printed; `! TEXT`: this was said on stderr; `- TEXT`: neither was.
  `^ TEXT`: this is all that was said on stderr. In these but the first `\\n` is the end of a line.
- `running NETWORK OPTIONS`: such a mesh is emulated until the case ends, and `{port}` is the serial port of its first board.
- `count NUMBER TEXT`: how often this was printed.
- `KEY = JSON`, and `!=`, `<`, `>`, `<=`, `>=`: what the JSON that was printed has there. `KEY ~ TEXT`: that string. A key is a path such
  as `boards.0.links`; `*` in it stands for each member, `name=A` for those with that name, of which there must be one, and `#` for how
  many there are. What is not there is null. `all` is all that was printed, `lines` the number of its lines.
- `sum KEY = NUMBER`, and the other operators: what all those values come to.
- `KEY as NAME`: from here on `{NAME}` stands for that value.
- `save NAME` writes what was printed into a file; `read NAME` looks at that file in place of what was printed.
- `files NAMES`: these files are in the folder.
- `sh COMMAND`: as `$`, but of the shell, which knows no repository; `{hopwise}` is the command.
- `needs image`, `needs test image`, `needs app`: without a compiler for ARM the rest is left out. `{image}` is the image, and `{app}` the
  folder of a program as `hopwise new-app` writes it.

In a TEXT and a SENTENCE `[..]` stands for any text.
"""

import json
import operator
import os
import subprocess
from pathlib import Path

from support import COMMAND, IMAGE, REPOSITORY, Test, is_like, quoted_words

FILE = Path(__file__).parents[1] / "transcripts" / f"{os.environ['HOPWISE_TRANSCRIPT']}.txt"
EMULATOR_IMAGE = os.environ.get("HOPWISE_TEST_EMULATOR_IMAGE")
APP = os.environ.get("HOPWISE_TEST_APP")
ORDERS = {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge}


def has(text, pattern):
    return is_like(text, f"[..]{pattern}[..]".replace("\\n", "\n"))


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def holds(found, relation, expected):
    if relation == "~":
        return isinstance(found, str) and is_like(found, expected)
    expected = json.loads(expected)
    if relation in ORDERS:
        return is_number(found) and is_number(expected) and ORDERS[relation](found, expected)
    # As text, since to Python 1, 1.0 and True are equal.
    is_equal = json.dumps(found, sort_keys=True) == json.dumps(expected, sort_keys=True)
    return {"=": is_equal, "!=": not is_equal and found is not None}[relation]


def members(part, value):
    """What one part of a path stands for in a value."""
    if part == "*" and isinstance(value, dict):
        return list(value.values())
    if part == "*" and isinstance(value, list):
        return value
    if "=" in part and isinstance(value, (dict, list)):
        key, name = part.split("=", 1)
        return [member for member in (value if isinstance(value, list) else [value]) if member.get(key) == name]
    if part == "#" and isinstance(value, (dict, list, str)):
        return [len(value)]
    if isinstance(value, list):
        return [value[int(part)] if int(part) < len(value) else None]
    return [value.get(part) if isinstance(value, dict) else None]


class Transcript(Test):
    def follow(self, lines):
        self.values = {"repository": str(REPOSITORY), "folder": f"{self.folder}/", "hopwise": COMMAND}
        self.printed = self.said = ""
        self.lines = [line for line in lines.splitlines() if line and not line.startswith("#")]
        while self.lines:
            line = self.lines.pop(0)
            kind, _, rest = line.partition(" ")
            text = self.with_values(rest)
            if kind == "needs":
                self.need(rest)
            elif kind == "running":
                network, *options = quoted_words(text)
                ports, _ = self.emulate(network, *options, image=self.values["image"])
                self.values["port"] = ports[0]
            elif kind in ("file", "program"):
                self.write_file(kind, text)
            elif kind in ("$", "sh"):
                exit = self.below("exit ")
                self.run_line(kind, text, int(exit[0]) if exit else 0)
            elif kind == "|":
                everything = "".join(f"{more}\n" for more in [text, *map(self.with_values, self.below("| "))])
                self.check(line, is_like(self.printed, everything))
            elif kind == ">":
                self.check(line, has(self.printed, text))
            elif kind == "!":
                self.check(line, has(self.said, text))
            elif kind == "^":
                self.check(line, is_like(self.said, text.replace("\\n", "\n")))
            elif kind == "-":
                self.check(line, not has(self.printed, text) and not has(self.said, text))
            elif kind == "count":
                number, text = text.split(" ", 1)
                self.check(line, self.printed.count(text) == int(number))
            elif kind == "sum":
                key, relation, expected = text.split(" ", 2)
                numbers = [value for value in self.found(key) if is_number(value)]
                self.check(line, holds(sum(numbers), relation, expected))
            elif kind == "files":
                self.check(line, sorted(os.listdir(self.folder)) == text.split())
            elif kind == "save":
                self.write(text, self.printed)
            elif kind == "read":
                self.printed = (self.folder / text).read_text()
            else:
                self.look(line, kind, rest)

    def below(self, start):
        """Takes the next lines that begin like this, without their beginning."""
        taken = []
        while self.lines and self.lines[0].startswith(start):
            taken.append(self.lines.pop(0).removeprefix(start))
        return taken

    def with_values(self, text):
        for name, value in self.values.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    def check(self, line, is_so):
        self.assertTrue(is_so, f"{line}\nprinted:\n{self.printed}\nsaid:\n{self.said}")

    def need(self, what):
        image = {"image": IMAGE, "test image": EMULATOR_IMAGE, "app": APP}[what]
        if not image:
            self.skipTest(f"there is no {what} for emulated boards")
        if what == "app":
            self.values["app"] = APP
            image = f"{APP}/target/thumbv7em-none-eabihf/release/hello"
        self.values["image"] = image

    def write_file(self, kind, name):
        text = "".join(f"{self.with_values(line)}\n" for line in self.below("    "))
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        if kind == "file":
            self.write(name, text)
        else:
            self.program(name, text)

    def run_line(self, kind, line, status):
        arguments, is_refused, sentence = line.partition(" => ")
        environment = dict(os.environ)
        if kind == "$":
            words = [COMMAND, *quoted_words(arguments)]
            environment["HOPWISE_REPO"] = str(REPOSITORY)
        else:
            words = ["sh", "-c", arguments]
            for variable in ["HOPWISE_REPO", "HOPWISE_IMAGES", "HOPWISE_PORT", "HOPWISE_BENCH"]:
                environment.pop(variable, None)
        ended = subprocess.run(words, capture_output=True, cwd=self.folder, env=environment)
        self.printed, self.said = ended.stdout.decode(), ended.stderr.decode()
        if is_refused:
            status = 2
        is_quiet = status != 2 or (not self.printed and len(self.said) > 10 and "panicked" not in self.said)
        self.check(line, ended.returncode == status and is_quiet)
        if is_refused:
            is_one = len(self.said.splitlines()) == 1
            self.check(line, is_one and is_like(self.said.rstrip(), f"hopwise: {sentence}"))

    def look(self, line, key, condition):
        """Looks at the JSON that was printed."""
        found = self.found(key)
        relation, expected = condition.split(" ", 1)
        if relation == "as":
            [value] = found
            self.values[expected] = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
        else:
            expected = self.with_values(expected)
            self.check(line, bool(found) and all(holds(value, relation, expected) for value in found))

    def found(self, path):
        """The values at this path in the JSON that was printed."""
        if path == "all":
            return [self.printed.strip()]
        if path == "lines":
            return [len(self.printed.splitlines())]
        documents, rest = [], self.printed.lstrip()
        while rest:
            document, end = json.JSONDecoder().raw_decode(rest)
            documents.append(document)
            rest = rest[end:].lstrip()
        values = documents if len(documents) == 1 else [documents]
        for part in path.split("."):
            values = [member for value in values for member in members(part, value)]
        return values


def add(number, case):
    name, lines = case.split("\n", 1)

    def test(self):
        self.follow(lines)

    test.__doc__ = name
    setattr(Transcript, f"test_{number:02}", test)


for number, case in enumerate(FILE.read_text().split("\n== ")[1:], 1):
    add(number, case)

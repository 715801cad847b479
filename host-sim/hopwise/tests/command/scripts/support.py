"""What these tests share: the command, a folder for each test, and waiting.

`cargo test -p hopwise --test command` runs each file as a test of its own: `python::book`, and `transcripts::sim` for a transcript. HOPWISE is the
command that it has built, and HOPWISE_TEST_IMAGE the firmware of the default board, unless there is no compiler for ARM.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import tempfile
import textwrap
import time
import unittest
from pathlib import Path

COMMAND = os.environ["HOPWISE"]
IMAGE = os.environ.get("HOPWISE_TEST_IMAGE")
REPOSITORY = Path(__file__).parents[5]

needs_image = unittest.skipUnless(IMAGE, "there is no firmware for emulated boards")


def is_like(text, pattern):
    """Whether a text is as a pattern says, in which `[..]` stands for any text."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("[..]"))), text, re.DOTALL) is not None


def quoted_words(line):
    """The words of a command line; quotes hold blanks together."""
    parts = enumerate(line.split("'"))
    return [word for place, part in parts for word in ([part] if place % 2 else part.split())]


def blocks(page):
    """The fenced blocks of a page: what kind each is of, and its text."""
    fenced = (block.partition("\n") for block in page.split("\n```")[1::2])
    return [(kind, f"{text}\n") for kind, end, text in fenced if end]


def command_and_rest(block):
    """A command of ours, without `hopwise`, and what is below it."""
    line, _, rest = block.partition("\n")
    return line.removeprefix("$ hopwise "), rest


def rows(text):
    """The rows of a table, a line each: what is given and what is expected, with `=>` between."""
    return [tuple(part.strip() for part in line.split("=>", 1)) for line in text.strip().splitlines()]


class Test(unittest.TestCase):
    """A test with a folder of its own, whose programs end with it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hopwise-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def path(self, name):
        return str(self.folder / name)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return self.path(name)

    def mesh(self, name, network, more=""):
        """A mesh file of the default board, with more lines at its end."""
        return self.write(name, f'network = "{network}"\nboard = "nucleo-f446re"\n{more}')

    def stand_in(self, text):
        """A program in the language of the shell that answers for probe-rs."""
        version = "case \"$*\" in --version) echo 'probe-rs 0.32.0 (git commit: none)'; exit;; esac"
        return self.program("probe-rs", f"{version}\n{textwrap.dedent(text)}")

    def program(self, name, text):
        """A program in the language of the shell."""
        path = self.write(name, f"#!/bin/sh\n{text}\n")
        os.chmod(path, 0o755)
        return path

    def start(self, line, **streams):
        """Starts the command in the background."""
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
        program = subprocess.Popen([COMMAND, *quoted_words(line)], text=True, **streams)
        self.addCleanup(end, program)
        return program

    def run_command(self, line, status=0, **more):
        """Runs the command, which must end with this status, or with any if that is None."""
        return self.run_words(quoted_words(line), status, **more)

    def run_words(self, words, status=0, input="", **more):
        """The same, of words that may have blanks in them."""
        ended = subprocess.run([COMMAND, *words], capture_output=True, input=input.encode(), **more)
        # As it is: in its text mode Python would take a carriage return for the end of a line.
        ended.stdout, ended.stderr = ended.stdout.decode(), ended.stderr.decode()
        if status is not None:
            self.assertEqual(ended.returncode, status, f"{words}: {ended.stdout}{ended.stderr}")
        return ended

    def json(self, line, status=0):
        return json.loads(self.run_command(f"{line} --json", status).stdout)

    def refuses(self, line, sentence):
        """A command that is refused in one sentence, and prints nothing."""
        ended = self.run_command(line, status=2)
        self.assertEqual(ended.stdout, "", line)
        self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
        self.assert_like(ended.stderr, f"hopwise: {sentence}\n")

    def assert_like(self, text, pattern):
        self.assertTrue(is_like(text, pattern), f"not {pattern}: {text}")

    def until(self, seconds, is_so):
        """Waits until something is so, which it must be within so many seconds."""
        end_of_time = time.monotonic() + seconds
        while not is_so():
            self.assertLess(time.monotonic(), end_of_time, "that did not happen in time")
            time.sleep(0.02)

    def emulate(self, network, *options, image=IMAGE):
        """Boards in real time; the serial ports of the first two, and the program."""
        line = f"emulate {network} --elf {image} --for 600s --serial 0.USART2=pty --serial 1.USART2=pty"
        with open(self.path("log.txt"), "w") as log:
            emulation = self.start(f"{line} {shlex.join(options)}", stdout=log)
        ports = []
        for board in range(2):
            line = emulation.stderr.readline()
            self.assertTrue(line.startswith(f"board {board} is at "), line)
            ports.append(line.split(" is at ")[1].strip())
        return ports, emulation


def end(program):
    """Ends a program, if it has not ended by itself."""
    program.kill()
    program.wait()
    for stream in (program.stdin, program.stdout, program.stderr):
        if stream:
            stream.close()


def interrupt(program):
    """As Ctrl-C does."""
    program.send_signal(signal.SIGINT)

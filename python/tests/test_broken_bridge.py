"""The package with bridges that are broken: an error each time, soon, and never a thread that is gone or waits for ever.

`cargo test -p hopwise --test command python` runs this.
"""

import sys
import threading
import time
import unittest

from hopwise import HopwiseError, Mesh

HELLO = '{"hello": {"version": 1, "network": "ring(3)", "nodes": 3, "board": 0}}'
#: In seconds, for all calls of a test: one that is waited for in vain takes 30.
SOON = 25.0


def mesh_of(script, **more):
    """A mesh whose bridge is this program."""
    text = f"import sys, time\nHELLO = {HELLO!r}\ndef say(line):\n    print(line, flush=True)\n{script}"
    return Mesh("/dev/none", command=[sys.executable, "-c", text], **more)


class BrokenBridge(unittest.TestCase):
    def setUp(self):
        self.begin = time.monotonic()

    def tearDown(self):
        self.assertLess(time.monotonic() - self.begin, SOON)

    def fails(self, call, *args, **more):
        with self.assertRaises(HopwiseError) as caught:
            call(*args, **more)
        self.assertEqual(caught.exception.kind, "no-bridge")
        return str(caught.exception)

    def test_lines_that_are_malformed(self):
        for line in ["{", "[]", "7", "null", '{"hello": 7}', '{"message": {}}', '{"request": {"service": 9}}', '{"error": "x"}']:
            with self.subTest(line):
                script = f"say(HELLO)\nsys.stdin.readline()\nsay({line!r})\nsys.stdin.read()"
                with mesh_of(script) as mesh:
                    self.assertIn("not of its protocol", self.fails(mesh.send, 1, 16, b"x"))
                    self.fails(mesh.send, 1, 16, b"x")
                    self.fails(next, mesh._taken(mesh._messages, None))
                self.fails(mesh_of, f"say({line!r})\nsys.stdin.read()")

    def test_responses_that_are_malformed_or_come_twice(self):
        script = """
say(HELLO)
for number, _ in enumerate(sys.stdin, 1):
    say('{"id": %d}' % number)
    say('{"id": %d, "hex": "q"}' % number)
    say(HELLO)
"""
        with mesh_of(script) as mesh:
            for _ in range(3):
                self.assertIn("not of its protocol", self.fails(mesh.request, 1, 17))

    def test_much_on_standard_error(self):
        script = """
say(HELLO)
for number, _ in enumerate(sys.stdin, 1):
    sys.stderr.write("complaint\\n" * 50_000)
    sys.stderr.flush()
    say('{"id": %d, "hex": "2a"}' % number)
    if number == 3:
        sys.exit("hopwise: the last words")
"""
        with mesh_of(script) as mesh:
            for _ in range(3):
                self.assertEqual(mesh.request(1, 17), b"\x2a")
            self.assertEqual(self.fails(mesh.request, 1, 17), "the last words")

    def test_one_that_closes_its_output_and_goes_on(self):
        script = "import os\nsay(HELLO)\nsys.stdin.readline()\nos.close(1)\nsys.stdin.read()"
        with mesh_of(script) as mesh:
            self.assertEqual(self.fails(mesh.request, 1, 17), "the bridge has ended")

    def test_one_that_reads_nothing(self):
        mesh = mesh_of("say(HELLO)\ntime.sleep(60)")
        errors = []

        def ask():
            try:
                mesh.send(1, 16, bytes(60_000))
            except HopwiseError as error:
                errors.append(error.kind)

        threads = [threading.Thread(target=ask) for _ in range(5)]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        mesh.close()
        for thread in threads:
            thread.join(SOON)
        self.assertEqual(errors, ["closed"] * 5)

    def test_the_key_is_handed_on(self):
        script = """
say(HELLO)
for number, _ in enumerate(sys.stdin, 1):
    say('{"id": %d, "hex": "%s"}' % (number, " ".join(sys.argv[1:]).encode().hex()))
"""
        with mesh_of(script, key_file="mesh.key", baud=9600) as mesh:
            self.assertEqual(mesh.request(1, 17), b"bridge --port /dev/none --baud 9600 --key-file mesh.key")
        with self.assertRaises(ValueError):
            Mesh("127.0.0.1:7000", key_file="mesh.key")


if __name__ == "__main__":
    unittest.main()

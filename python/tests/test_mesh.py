"""The package on a mesh of emulated boards that run what `hopwise new-app` writes.

`cargo test -p hopwise --test command python` starts the boards and runs this; HOPWISE_PORTS has the serial ports of nodes 0 and 1.
"""

import os
import re
import subprocess
import threading
import time
import unittest

from hopwise import HopwiseError, Mesh

HELLO, DOUBLE, NOBODY = 16, 17, 99
PORTS = os.environ["HOPWISE_PORTS"].split(":")
COMMAND = [os.environ["HOPWISE"]]


def wait_until_all_answer(mesh):
    """Boards answer their host before their links are up."""
    until = time.monotonic() + 10
    for node in range(3):
        while True:
            try:
                mesh.request(node, DOUBLE, bytes([1]))
                break
            except HopwiseError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)


class AtSerialPort(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.mesh = Mesh(PORTS[0])
        wait_until_all_answer(cls.mesh)

    @classmethod
    def tearDownClass(cls):
        cls.mesh.close()

    def fails(self, kind, call, *args, **more):
        with self.assertRaises(HopwiseError) as caught:
            call(*args, **more)
        self.assertEqual(caught.exception.kind, kind, str(caught.exception))
        return str(caught.exception)

    def test_it_knows_its_network(self):
        self.assertEqual((self.mesh.network, self.mesh.nodes, self.mesh.board), ("ring(3)", 3, 0))

    def test_requests_are_answered(self):
        for node in range(3):
            self.assertEqual(self.mesh.request(node, DOUBLE, bytes([21 + node])), bytes([42 + 2 * node]))

    def test_several_threads_ask_at_once(self):
        answers = {}

        def ask(number):
            answers[number] = self.mesh.request(number % 3, DOUBLE, bytes([number]))

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(answers, {number: bytes([2 * number]) for number in range(6)})

    def test_messages_are_sent(self):
        self.mesh.send(1, DOUBLE, b"unread")
        self.mesh.send_confirmed(2, DOUBLE, b"confirmed")
        self.mesh.broadcast(HELLO, b"all")

    def test_what_fails_is_said(self):
        self.assertIn("no application there serves the port", self.fails("port-unreachable", self.mesh.request, 1, NOBODY))
        self.fails("port-unreachable", self.mesh.send_confirmed, 1, NOBODY, b"x")
        self.fails("no-such-node", self.mesh.send, 3, HELLO, b"x")
        self.assertIn("at most 200 bytes", self.fails("too-long", self.mesh.send, 1, HELLO, bytes(201)))
        self.fails("bad-line", self.mesh.send, -1, HELLO, b"x")
        self.fails("refused", self.mesh.request, 1, DOUBLE, b"\xff\xff\xff\xff\xff\xff")
        # And goes on.
        self.assertEqual(self.mesh.request(1, DOUBLE, b"\x01"), b"\x02")

    def test_boards_are_heard(self):
        heard = set()
        for message in self.mesh.listen(service=HELLO, seconds=20):
            self.assertEqual((message.service, message.from_host, message.bytes), (HELLO, False, b"hello"))
            heard.add(message.node)
            if len(heard) == 3:
                break
        self.assertEqual(heard, {0, 1, 2})
        self.assertEqual(list(self.mesh.listen(service=NOBODY, seconds=0.5)), [])

    def test_one_program_has_the_port(self):
        self.assertIn("another program uses this port", self.fails("no-bridge", Mesh, PORTS[0]))

    def test_what_is_not_there_is_said(self):
        self.assertIn("/nowhere", self.fails("no-bridge", Mesh, "/nowhere"))
        self.assertIn("cannot be run", self.fails("no-bridge", Mesh, "/nowhere", command=["/no/command"]))
        self.fails("no-bridge", Mesh, "127.0.0.1:1")


class AtSocket(unittest.TestCase):
    def setUp(self):
        self.bridge = subprocess.Popen(
            [*COMMAND, "bridge", "--port", PORTS[1], "--listen", "127.0.0.1:0"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        line = self.bridge.stderr.readline().decode()
        self.address = re.fullmatch(r"clients are served at (127\.0\.0\.1:\d+)\n", line).group(1)

    def tearDown(self):
        self.bridge.terminate()
        self.bridge.wait()
        self.bridge.stderr.close()

    def test_several_programs_share_a_port(self):
        with Mesh(self.address) as one, Mesh(self.address) as other:
            self.assertEqual(one.board, 1)
            messages = one.listen(service=20, seconds=20)
            other.send_to_host(1, 20, b"\x1b[2J")
            message = next(messages)
            self.assertEqual((message.node, message.from_host, message.bytes), (1, True, b"\x1b[2J"))
            messages.close()
            self.assertEqual(other.request(2, DOUBLE, b"\x05"), b"\x0a")

    def test_a_host_answers(self):
        with Mesh(self.address) as server, Mesh(self.address) as asker:
            refusal = []

            def ask():
                for _ in range(100):
                    try:
                        return asker.request_host(1, 21, b"abc")
                    except HopwiseError as error:
                        refusal.append(error.kind)
                        time.sleep(0.05)

            answers = []
            thread = threading.Thread(target=lambda: answers.append(ask()))
            thread.start()
            server.serve(21, lambda request: request.bytes[::-1], seconds=3)
            thread.join()
            self.assertEqual(answers, [b"cba"])
            self.assertLessEqual(set(refusal), {"port-unreachable"})

            # One that it can make nothing of.
            def fail(request):
                raise ZeroDivisionError

            def refused():
                try:
                    asker.request_host(1, 22, b"")
                except HopwiseError as error:
                    refusal.append(error.kind)

            thread = threading.Timer(0.5, refused)
            thread.start()
            with self.assertRaises(ZeroDivisionError):
                server.serve(22, fail, seconds=20)
            thread.join()
            self.assertEqual(refusal[-1], "refused")
            with self.assertRaises(HopwiseError) as caught:
                asker.request_host(1, 22, b"")
            self.assertEqual(caught.exception.kind, "port-unreachable")

    def test_a_bridge_that_ends_is_noticed(self):
        mesh = Mesh(self.address)
        self.bridge.kill()
        self.bridge.wait()
        for _ in range(100):
            try:
                mesh.request(2, DOUBLE, b"\x05", within=0.1)
            except HopwiseError as error:
                self.assertEqual(error.kind, "no-bridge")
                break
            time.sleep(0.05)
        else:
            self.fail("nobody has noticed")
        mesh.close()
        with self.assertRaises(HopwiseError):
            mesh.send(1, HELLO, b"x")


if __name__ == "__main__":
    unittest.main()

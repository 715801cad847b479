"""A rehearsal: what people do with a box of boards, done at a bench of emulated ones with the same commands."""

import os
import re
import socket

from support import Test, needs_image, rows

REFUSALS = """
melt 0 => 'melt' is not an event; events are cut, [..]
plug 0.UART4 1.USART3 => port 1.USART3 already has a wire
plug 0.UART4 1.USART2 => port 1.USART2 already has a wire
plug 0.UART4 0.UART4 => there is no port 0.UART4
cut 2.USART1 => there is no wire at port 2.USART1
swap 0.USART1 2.USART1 => there is no wire at port 2.USART1
reset 3 => ring(3): there is no node 3: [..]
jumper 0.USART1 => port 0.USART1 already has a wire
jumper 0 => [..]
jumper 7.USART1 => there is no port 7.USART1
usb in 3 => there is no board 3
usb over 0 => a USB cable goes in, power or out, not 'over'
reset 0; reset 1 => one thing at a time, without ';' and '#'
"""


class Bench(Test):
    def start_bench(self, mesh):
        bench = self.start(f"bench {mesh} --port 0")
        page, export = [bench.stdout.readline() for _ in range(2)]
        self.host = re.fullmatch(r"export HOPWISE_BENCH=http://(.*)\n", export)[1]
        self.assertEqual(page, f"http://{self.host}/ (open it in a browser; Ctrl-C ends this)\n")
        self.at_bench = {**os.environ, "HOPWISE_BENCH": f"http://{self.host}/"}

    def hopwise(self, line, status=0):
        """All that a command says, whose boards are on the bench."""
        ended = self.run_command(line, status, env=self.at_bench)
        return ended.stdout + ended.stderr

    def ask(self, request, fields, body):
        """What comes back, from the status on."""
        host, port = self.host.split(":")
        with socket.create_connection((host, int(port))) as stream:
            head = f"{request} HTTP/1.1\r\n{fields}Host: {self.host}\r\nContent-Length: {len(body)}\r\n\r\n"
            stream.sendall((head + body).encode())
            with stream.makefile("r", newline="") as response:
                return response.read()

    def act(self, text):
        self.assert_like(self.ask("POST /do", "", text), "HTTP/1.1 200 OK[..]")

    @needs_image
    def test_a_box_of_boards_becomes_a_mesh(self):
        key = 'key = "000102030405060708090a0b0c0d0e0f"\n'
        mesh = self.mesh("mesh.toml", "ring(3)", f"{key}log-packets = true\ntraffic = {{ rate = 10 }}\n")
        self.start_bench(mesh)
        # No board is plugged in.
        self.hopwise(f"check {mesh}", status=2)

        assign = self.start(f"mesh assign {mesh}", env=self.at_bench)
        # The second board on the bench is node 0.
        for assigned, board in enumerate([1, 0, 2], 1):
            self.act(f"usb in {board}")
            self.until(60, lambda: (self.folder / "mesh.toml").read_text().count("probe = ") == assigned)
        printed, _ = assign.communicate(timeout=60)
        self.assert_like(printed, "node 0  ring(3)  [..]node 1  [..]node 2  [..]")
        self.assertEqual(self.hopwise(f"flash {mesh}"), "3 of 3 boards flashed\n")

        # The guide names nodes, and a label says which board on the bench each is.
        board = {"0": 1, "1": 0, "2": 2}
        watch = self.start(f"check {mesh} --watch", env=self.at_bench)
        is_wrong = False
        for line in watch.stdout:
            cable = re.match(r"cable (\d) of 3: board (\d) (\w+) to board (\d) (\w+): ", line)
            if cable and cable[1] == "2" and not is_wrong:
                # The first time in the wrong socket.
                is_wrong = True
                self.act(f"plug {board['0']}.USART3 {board['1']}.UART5")
            elif cable and cable[1] != "2":
                self.act(f"plug {board[cable[2]]}.{cable[3]} {board[cable[4]]}.{cable[5]}")
            elif line.startswith("  swapped "):
                self.assert_like(line, "  swapped     0.1 (USART3): leads to 1[..] instead of 2.0\n")
                self.act(f"plug {board['0']}.USART3 {board['2']}.USART1")
        self.assertTrue(is_wrong)
        self.assertEqual(watch.wait(60), 0)

        def check_says(status, text):
            def is_so():
                ended = self.run_command(f"check {mesh}", status=None, env=self.at_bench)
                return ended.returncode == status and text in ended.stdout + ended.stderr

            self.until(60, is_so)

        check_says(0, "3 of 3 boards answer, 3 of 3 cables are right")
        self.act("swap 1.USART1 1.USART3")
        unassigned = self.mesh("unassigned.toml", "ring(3)")
        sentence = "hopwise: the mesh file names none of the 3 boards that are plugged in: `hopwise mesh assign MESH.toml` [..]"
        self.assert_like(self.hopwise(f"check {unassigned}", status=2), sentence)
        check_says(1, "1. exchange the plugs at board 1 USART3 and board 2 USART1 (or those at ")
        self.act("swap 1.USART1 1.USART3")
        check_says(0, "3 of 3 cables are right")

        def captures():
            line = f"capture {mesh} --for 2s --quiet -o {self.path('trace.jsonl')}"
            said = self.run_command(line, status=None, env=self.at_bench)
            text = said.stdout + said.stderr
            return said.returncode == 0 and " of 3 nodes, " in text and "clocks: aligned by " in text

        self.until(60, captures)

        # One cable at the host is enough now.
        self.act("usb power 0")
        self.act("usb power 2")
        self.assert_like(self.hopwise(f"update {mesh}"), "[..]3 boards have the new image after [..] s\n[..]")
        failed = (
            "1 of 2 boards flashed\n  board 1 (probe [..]) failed at its image: Error: Probe not found: plug its USB cable into this host\n[..]"
        )
        self.assert_like(self.hopwise(f"flash {mesh} --only 0,1", status=1), failed)
        check_says(0, "3 of 3 boards answer, 3 of 3 cables are right")
        self.act("usb out 1")
        said = self.hopwise("ping 1", status=None)
        self.assert_like(said, "hopwise: [..]no board with an ST-LINK is plugged in[..]")

    def test_pages_from_elsewhere_and_mistakes_are_refused(self):
        mesh = self.mesh("mesh.toml", "ring(3)")
        self.start_bench(mesh)
        self.act("plug 0.USART1 1.USART3")
        for text, sentence in rows(REFUSALS):
            refusal = f"HTTP/1.1 400 Bad Request\r\n[..]\r\n\r\n{sentence}\n"
            self.assert_like(self.ask("POST /do", "", text), refusal)
        self.act("cut 1.USART3")
        self.act("plug 1.USART3 2.USART1")
        for request, fields, status in [
            ("POST /do", f"Origin: http://{self.host}\r\n", 200),
            ("POST /do", "Origin: http://example.org\r\n", 403),
            ("POST /do", "Origin: http://127.0.0.1:1\r\n", 403),
            ("GET /state", "Host: example.org\r\n", 403),
            ("GET /state", "", 200),
            ("GET /do", "", 404),
            ("POST /do", "Content-Length: 99999999999\r\n", 413),
        ]:
            self.assert_like(self.ask(request, fields, "reset 0"), f"HTTP/1.1 {status} [..]")
        emulated = self.mesh("emulated.toml", "ring(3)", 'probe = "emulated"\n')
        no_bench = 'with `probe = "emulated"` in the mesh file commands need no bench: take out that line'
        self.refuses(f"bench {emulated}", no_bench)
        port = self.host.split(":")[1]
        taken = f"cannot serve at port {port}: [..]; choose another one with --port, or --port 0 [..]"
        self.refuses(f"bench {mesh} --port {port}", taken)
        probe = self.mesh("probe.toml", "ring(3)", '[[node]]\naddress = 0\nprobe = "AA"\n')
        self.at_bench["HOPWISE_BENCH"] = "127.0.0.1:1"
        for line in [f"check {probe}", f"flash {probe} --only 0"]:
            said = self.run_command(line, status=None, env=self.at_bench).stderr
            self.assert_like(said, "hopwise: there is no bench at 127.0.0.1:1: [..] or `unset HOPWISE_BENCH`\n")

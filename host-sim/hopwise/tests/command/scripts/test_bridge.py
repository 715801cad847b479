"""The host as a neighbor of the boards: `send`, `request`, `listen` and `bridge`."""

import json
import shlex
import socket
import subprocess
import threading
import time

from support import Test, end, interrupt, needs_image, rows


class Client:
    """A client of a bridge."""

    def __init__(self, test, address):
        host, port = address.split(":")
        self.stream = socket.create_connection((host, int(port)), timeout=60)
        self.lines = self.stream.makefile("r")
        test.addCleanup(self.close)

    def close(self):
        self.lines.close()
        self.stream.close()

    def say(self, text):
        self.stream.sendall(text.encode())

    def hear(self):
        return json.loads(self.lines.readline())

    def ask(self, request):
        self.say(f"{request}\n")
        return self.hear()

    def ask_until_known(self, request):
        """Asks for something confirmed. On a busy machine the bridge may stand still for so long that the board takes it for gone and drops
        the confirmation; that nothing is known of the message is true then, and it is retransmitted. Or the emulated boards do not keep
        pace, so that their uptime does not show that they have not restarted meanwhile."""
        for _ in range(3):
            response = self.ask(request)
            if response.get("kind") not in ("unknown", "interrupted"):
                return response
        raise AssertionError("no word of one of three")


@needs_image
class Hosts(Test):
    def listening(self, options):
        listener = self.start(f"listen {options}")
        self.assertEqual(listener.stderr.readline(), "listening through node 0 of ring(3)\n")
        return listener

    def ended(self, program, status=0):
        """What a program printed and said until it ended."""
        printed, said = program.communicate(timeout=60)
        self.assertEqual(program.returncode, status, f"{printed}{said}")
        return printed, said

    def test_messages_go_to_hosts_and_requests_to_boards(self):
        (here, there), emulation = self.emulate("ring(3)")

        def send(what):
            return self.json(f"send 0 --to-host {what} --port {there}")

        listener = self.listening(f"--port {here} --from 1 --service 20 --count 2 --for 60s")
        sentence = (
            f"{here}: another program uses this port; end it first, or let both talk through one `hopwise bridge`; `fuser -v [..]` names it"
        )
        for line in ["ping 1", "listen", "bridge"]:
            self.refuses(f"{line} --port {here}", sentence)
        for what in ["'not for us' --service 21", "hello --service 20"]:
            self.assertEqual(send(what)["outcome"], "sent")
        harmful = self.write("harmful", "\x1b[2J\x1b]0;title\x07")
        send(f"--file {harmful} --service 20")
        printed, _ = self.ended(listener)
        first, second = printed.splitlines()
        self.assert_like(first, '[..]the host at node 1, service 20: 68656c6c6f "hello"')
        self.assert_like(second, "[..]service 20: 1b5b324a1b5d303b7469746c6507")

        said = self.run_command(f"listen --port {here} --count 1 --for 200ms", status=1).stderr
        self.assertEqual(said.splitlines()[-1], "hopwise: 0 of 1 messages came in time")
        self.assertEqual(self.run_command(f"listen --port {here} --for 100ms --json").stdout, "")

        listener = self.listening(f"--port {here} --json")
        send("--hex ff00 --service 255")
        time.sleep(0.3)
        interrupt(listener)
        # Ctrl-C ends it well.
        printed, said = self.ended(listener)
        self.assertEqual(said, "")
        message = json.loads(printed)
        self.assertEqual((message["hex"], message["service"]), ("ff00", 255))

        listener = self.listening(f"--port {here}")
        end(emulation)
        self.assertEqual(self.ended(listener, status=2)[1], f"hopwise: {here}: the port is gone\n")

    def test_a_bridge_serves_good_clients_whatever_the_others_do(self):
        (here, there), emulation = self.emulate("ring(3)")
        bridge = self.start(f"bridge --port {here} --listen 127.0.0.1:0", stdout=subprocess.DEVNULL)
        line = bridge.stderr.readline()
        self.assert_like(line, "clients are served at [..]\n")
        address = line.split()[-1]

        good = Client(self, address)
        self.assertEqual(good.hear(), {"hello": {"version": 1, "network": "ring(3)", "nodes": 3, "board": 0}})
        # One that says garbage, and reads nothing, for as long as it is let to.
        garbage = Client(self, address)
        garbage.stream.setblocking(False)
        for _ in range(100):
            try:
                garbage.stream.send(b"\0nonsense\n" * 10_000)
            except OSError:
                pass
        # One that wants to hear everything, and reads nothing.
        deaf = Client(self, address)
        deaf.say('{"do":"listen"}\n')
        # One that goes in the middle of a line, with a request under way.
        half = Client(self, address)
        half.say('{"id":1,"do":"send_confirmed","node":2,"service":2,"text":"x"}\n{"id":2,"do')
        half.stream.shutdown(socket.SHUT_RDWR)
        half.close()
        # One that is a web page's.
        browser = Client(self, address)
        browser.hear()
        browser.say('POST / HTTP/1.1\r\nHost: x\r\n\r\n{"id":1,"do":"send","node":2,"service":2,"text":"web"}\n')
        self.assertEqual(browser.hear()["error"], "this is not a web server")
        try:
            rest = browser.lines.read()
        except ConnectionResetError:
            rest = ""
        self.assertEqual(rest, "", "and nothing else")

        sent = good.ask_until_known('{"id":1,"do":"send_confirmed","node":2,"service":2,"text":"hi"}')
        self.assertEqual(sent, {"id": 1, "outcome": "delivered"})
        wrong = good.ask("what?")
        self.assertEqual((wrong["id"], wrong["kind"]), (None, "bad-line"))
        long = good.ask('{"id":2,"x":"' + "y" * 5_000 + '"}')
        self.assertEqual(long["error"], "a line has at most 4096 bytes")
        for request, found in rows("""
            "request","node":1,"service":99 => port-unreachable: no application there serves the port
            "send","node":7,"service":20 => no-such-node: there is no node 7: the network has nodes 0 to 2
            "send_confirmed","node":1,"service":99 => port-unreachable: undeliverable: port-unreachable
        """):
            kind, sentence = found.split(": ", 1)
            response = good.ask_until_known('{"id":"a","do":' + request + "}")
            self.assertEqual(response, {"id": "a", "kind": kind, "error": sentence})
        too_long = good.ask('{"id":3,"do":"send","node":1,"service":20,"text":"' + "z" * 201 + '"}')
        self.assertEqual(too_long["kind"], "too-long")

        # More requests at once than there may be: those are told so, and all others are answered.
        good.say("".join(f'{{"id":{id},"do":"send","node":1,"service":20,"hex":"{id:02x}"}}\n' for id in range(40)))
        responses = [good.hear() for _ in range(40)]
        self.assertEqual({response["id"] for response in responses}, set(range(40)))
        sent = [response for response in responses if response.get("outcome") == "sent"]
        too_many = [response for response in responses if response.get("kind") == "too-many"]
        self.assertGreaterEqual(len(sent), 16, responses)
        self.assertEqual(len(sent) + len(too_many), 40, responses)

        self.assertEqual(good.ask('{"id":4,"do":"listen","node":1,"service":20}')["outcome"], "listening")
        for service in (21, 20):
            self.run_command(f"send 0 news --to-host --service {service} --port {there}")
        news = {"node": 1, "from_host": True, "service": 20, "hex": "6e657773", "text": "news"}
        self.assertEqual(good.hear(), {"message": news})
        self.assertEqual(good.ask('{"id":5,"do":"quiet"}')["outcome"], "quiet")

        # The host at the other port asks the one here.
        to_host = f"request 0 'how many?' --to-host --service 21 --port {there}"
        self.assertEqual(self.json(to_host, status=1)["kind"], "port-unreachable")
        self.assertEqual(good.ask('{"id":6,"do":"serve","service":21}')["outcome"], "serving")
        responses = []
        asking = threading.Thread(target=lambda: responses.append(self.json(to_host)))
        asking.start()
        request = {
            "number": 1, "node": 1, "from_host": True, "service": 21, "hex": "686f77206d616e793f", "text": "how many?",
        }
        self.assertEqual(good.hear(), {"request": request})
        self.assertEqual(good.ask('{"id":7,"do":"respond","request":1,"text":"many"}')["outcome"], "sent")
        asking.join()
        self.assertEqual([response["text"] for response in responses], ["many"])
        self.assertEqual(good.ask('{"id":8,"do":"respond","request":1,"text":"more"}')["kind"], "no-request")
        self.assertEqual(good.ask('{"id":9,"do":"leave","service":21}')["outcome"], "left")

        # Through the other port as through a pipe, whose end is the end.
        to_all = '{"id":1,"do":"broadcast","service":2,"text":"to all"}'
        piped = self.run_command(f"bridge --port {there}", input=to_all)
        self.assertEqual(piped.stdout.splitlines()[1], '{"id":1,"outcome":"sent"}')
        time.sleep(0.5)
        log = (self.folder / "log.txt").read_text().splitlines()
        for heard in [" 0 info  broadcast ", " 1 info  6 bytes from node 1", " 2 info  broadcast "]:
            self.assertEqual(sum(heard in line for line in log), 1, heard)

        # No more clients than so many.
        clients = [Client(self, address) for _ in range(16)]
        last = Client(self, address)
        self.assertEqual(last.hear()["error"], "there are 16 clients already")
        for client in [*clients, last]:
            client.close()

        end(emulation)
        gone = f"{here}: the port is gone"
        self.assertEqual(good.hear(), {"id": None, "kind": "port-gone", "error": gone})
        self.assertEqual(self.ended(bridge, status=2)[1], f"hopwise: {gone}\n")

    def test_a_board_that_is_switched_off_is_noticed(self):
        ports, _ = self.emulate("ring(3)", "--events", "8s off 0")
        bridge = self.start(shlex.join(["bridge", "--port", ports[0]]), stdin=subprocess.PIPE)
        self.assertIn("hello", json.loads(bridge.stdout.readline()))
        kinds = []
        for id in range(20):
            bridge.stdin.write(f'{{"id":{id},"do":"request","node":1,"service":99,"within":2}}\n')
            bridge.stdin.flush()
            kinds.append(json.loads(bridge.stdout.readline())["kind"])
            if kinds[-1] == "no-board":
                return
            time.sleep(1)
        self.fail(f"nobody has noticed: {kinds}")

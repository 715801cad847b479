"""Nodes in processes: `hopwise node` and `hopwise mesh run`."""

import os
import shlex
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from support import IMAGE, Test, interrupt, needs_image


def children(program):
    """What a command has started, by number."""
    return [int(pid) for pid in Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split()]


class Processes(Test):
    def node(self, network, address, *links):
        """One node, whose host is at the terminal `host-ADDRESS` of the folder."""
        terminal = self.folder / f"host-{address}"
        terminal.unlink(missing_ok=True)
        line = ["node", network, str(address), "--host", f"pty:{terminal}"]
        for link in links:
            line += ["--link", link]
        node = self.start(shlex.join(line), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.until(5, terminal.exists)
        return node

    def mesh_run(self, mesh, more=""):
        """A mesh that runs in the background; its folder, too."""
        folder = self.folder / "run"
        return self.start(f"mesh run {mesh} --folder {folder} {more}"), folder

    def answers(self, port, node):
        """Whether one ping of a node is answered."""
        return self.run_command(f"ping {node} --count 1 --port {port}", status=None).returncode == 0

    def is_whole(self, mesh, port):
        return self.json(f"check {mesh} --port {port}", status=None)["as_planned"]

    def test_a_program_for_boards_runs_in_processes(self):
        """The source is that of boards."""
        mesh, app = self.mesh("mesh.toml", "ring(3)"), self.path("uptime")
        self.run_command(f"new-app {app} --example requests")
        self.assertEqual(self.json(f"mesh run {mesh} --app {app} --check")["pongs"], 6)
        _, run = self.mesh_run(mesh, f"--app {app}")
        self.until(60, (run / "node-0").exists)
        time.sleep(1)
        # How many seconds node 2 has been running, as postcard writes them.
        seconds = self.json(f"request 2 --service 16 --hex c0843d --port {run}/node-0")["hex"]
        self.assertTrue(seconds.startswith("0"), seconds)
        counters = self.json(f"counters 1 --port {run}/node-1")
        self.assertGreaterEqual(counters["nodes"][0]["delivered"], 2, counters)

    def test_processes_that_die_or_stand_still_come_back(self):
        """One of three is killed, and then one stopped for longer than its neighbors wait."""
        mesh = self.mesh("mesh.toml", "path(3)")
        mesh_run, run = self.mesh_run(mesh)
        port = run / "node-0"
        self.until(10, lambda: (run / "node-2").exists() and self.answers(port, 2))
        before = children(mesh_run)
        self.assertEqual(len(before), 3)
        os.kill(before[1], signal.SIGKILL)

        def is_started_again():
            now = children(mesh_run)
            return len(now) == 3 and before[1] not in now and self.answers(port, 2)

        self.until(10, is_started_again)
        self.assertTrue(self.is_whole(mesh, port))
        [middle] = set(children(mesh_run)) - set(before)
        os.kill(middle, signal.SIGSTOP)
        time.sleep(1.5)
        self.assertFalse(self.answers(port, 2))
        os.kill(middle, signal.SIGCONT)
        self.until(10, lambda: self.answers(port, 2))
        interrupt(mesh_run)
        _, said = mesh_run.communicate(timeout=60)
        self.assertIn("node 1 has ended (signal: 9 (SIGKILL)) and is started again", said)
        gone = [pid for pid in {middle, *before} if Path(f"/proc/{pid}").exists()]
        self.assertEqual(gone, [])

    def test_a_busy_machine_drops_no_link(self):
        """A process that others hold up for half a second drops no link; one that stands still for longer does."""
        cable = f"0=unix:{self.path('cable')}"
        nodes = [self.node("path(2)", address, cable) for address in range(2)]
        port = self.path("host-0")
        self.until(10, lambda: self.answers(port, 1))
        for pause, up in [(0.5, 1), (0.5, 1), (1.2, 0)]:
            nodes[1].send_signal(signal.SIGSTOP)
            time.sleep(pause)
            found = self.json(f"counters 0 --port {port}")["nodes"][0]["neighbors_up"]
            self.assertEqual(found, up, f"after {pause} s")
            nodes[1].send_signal(signal.SIGCONT)
            self.until(10, lambda: self.answers(port, 1))

    def test_strangers_at_a_socket_do_no_harm(self):
        """Somebody else connects first and sends garbage, and then nothing."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            host, free = server.getsockname()
        self.node("path(2)", 0, f"0=listen:{free}")
        garbage = bytes((byte * 2_654_435_761 & 0xFFFFFFFF) >> 24 for byte in range(100_000))
        with socket.create_connection((host, free)) as stranger:
            try:
                stranger.sendall(garbage)
            except OSError:
                pass  # It may be thrown out while it speaks.
        connects = f"0=tcp:{host}:{free}"
        port = self.path("host-0")
        with socket.create_connection((host, free)):
            first = self.node("path(2)", 1, connects)
            self.until(15, lambda: self.answers(port, 1))
        first.kill()
        first.wait()
        self.until(10, lambda: not self.answers(port, 1))
        self.node("path(2)", 1, connects)
        self.until(15, lambda: self.answers(port, 1))

    @needs_image
    def test_processes_emulated_boards_and_real_ones_are_one_mesh(self):
        """Pseudo-terminals stand for the adapters that a real board is wired to, and a process for that board."""
        key = 'key = "000102030405060708090a0b0c0d0e0f"\n'
        emulated = "".join(f'[[node]]\naddress = {node}\nprobe = "emulated"\n' for node in (1, 2))
        mesh = self.mesh("ring.toml", "ring(5)", key + emulated)
        found = self.json(f"mesh run {mesh} --check")
        expected = {
            "processes": 3, "emulated": 2, "restarts": 0, "links_up": 5, "pongs": 20, "broadcast_deliveries": 20,
        }
        self.assertEqual({name: found[name] for name in expected}, expected)

        adapters = [self.folder / "a", self.folder / "b"]
        links = [f"{port}=pty:{adapter}" for port, adapter in enumerate(adapters)]
        first = self.node("ring(4)", 3, *links)
        cables = "".join(f'[[cable]]\nat = "3.{port}"\nserial = "{at}"\n' for port, at in enumerate(adapters))
        real = '[[node]]\naddress = 3\nboard = "nucleo-f401re"\nprobe = "066DFF"\n'
        mesh, run = self.mesh("mixed.toml", "ring(4)", emulated + real + cables), self.folder / "run"
        # For real boards no image is needed.
        run.mkdir()
        for built, image in [("hopwise-firmware", "nucleo-f446re"), ("hopwise-boot", "nucleo-f446re-boot")]:
            shutil.copy(Path(IMAGE).with_name(built), run / f"{image}.elf")
        # A run that was killed has left its sockets, and a terminal that is another by now.
        (run / "node-3").symlink_to(self.folder / "host-3")
        for cable in range(1, 5):
            with socket.socket(socket.AF_UNIX) as left:
                left.bind(str(run / f"cable-{cable}"))
        mesh_run, _ = self.mesh_run(mesh, f"--images {run}")
        port = run / "node-1"
        self.until(60, port.exists)
        self.assertFalse((run / "node-3").is_symlink())
        self.until(20, lambda: self.is_whole(mesh, port))
        # Both adapters are unplugged and come back.
        for adapter in adapters:
            adapter.unlink()
        first.kill()
        first.wait()
        self.until(10, lambda: not self.is_whole(mesh, port))
        self.node("ring(4)", 3, *links)
        self.until(20, lambda: self.is_whole(mesh, port))
        [process] = children(mesh_run)
        interrupt(mesh_run)
        printed, said = mesh_run.communicate(timeout=60)
        self.assertEqual(mesh_run.returncode, 0, said)
        self.until(5, lambda: not Path(f"/proc/{process}").exists())
        runs = "ring(4) runs: 1 process, 2 emulated boards, 1 real board; "
        self.assertTrue(printed.startswith(runs), printed)
        self.assertEqual(said.count(f"{adapters[1]} is gone"), 1, said)

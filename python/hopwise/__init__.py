r"""A mesh of boards that run Hopwise, through the serial port of one of them.

    from hopwise import Mesh

    with Mesh("/dev/ttyACM0") as mesh:
        mesh.send(5, 16, b"on")
        response = mesh.request(5, 17, b"\x15")
        for message in mesh.listen(service=16, seconds=10):
            print(message.node, message.bytes)

The calls are those of programs on boards. Below is the bridge of the `hopwise` command: lines of JSON, docs/bridge.md. Without a mesh,
`experiment` runs simulated ones: experiments.py.
"""

import collections
import json
import os
import queue
import shlex
import socket
import subprocess
import threading
import time
from typing import Callable, Iterator, List, NamedTuple, Optional

from .errors import HopwiseError
from .experiments import Results, experiment

__all__ = ["HopwiseError", "Mesh", "Message", "Results", "experiment"]

#: The number of the bridge's protocol.
_VERSION = 1
#: A bridge that is there says hello within so many seconds.
_HELLO_WITHIN = 30.0
#: The bridge answers everything; who hears nothing for so long, beyond what was allowed, has lost it.
_GRACE = 30.0
#: Lines of what the command says on standard error that are kept.
_LAST_LINES = 16
#: A command that has closed its output has said why within so many seconds.
_LAST_WORDS_WITHIN = 2.0
#: Messages that wait for listen(); what comes after those is lost.
_UNREAD = 4096


class Message(NamedTuple):
    """What a board, or another host, has sent to this host."""

    #: The node that sent it.
    node: int
    #: Whether the host at that node sent it.
    from_host: bool
    #: The application that it is for.
    service: int
    #: What it says.
    bytes: bytes


class Mesh:
    """A mesh, through a serial port or a bridge that runs already."""

    def __init__(
        self,
        port: str,
        baud: Optional[int] = None,
        command: Optional[List[str]] = None,
        key_file: Optional[str] = None,
    ):
        """`port` is a serial port, such as /dev/ttyACM0, or the address of a bridge, such as 127.0.0.1:7000. `key_file` is the file with the
        key of the mesh, if it has one."""
        self._lock = threading.Lock()
        self._lines = queue.Queue()
        self._complaints = None
        self._next_id = 0
        self._waiting = {}
        self._messages = queue.Queue(maxsize=_UNREAD)
        self._requests = {}
        self._gone: Optional[HopwiseError] = None
        self._process = None
        self._socket = None
        if os.sep not in port and port.count(":") == 1:
            self._connect(port, baud, key_file)
        else:
            self._start(port, baud, command, key_file)
        hello = queue.Queue(maxsize=1)
        threading.Thread(target=self._write, daemon=True).start()
        threading.Thread(target=self._read, args=(hello,), daemon=True).start()
        try:
            first = hello.get(timeout=_HELLO_WITHIN)
        except queue.Empty:
            first = HopwiseError("no-bridge", f"{port}: the bridge says nothing")
        if isinstance(first, HopwiseError):
            self.close()
            raise first
        if first.get("version") != _VERSION:
            self.close()
            raise HopwiseError("no-bridge", f"{port}: the bridge speaks version {first.get('version')}, not {_VERSION}")
        #: The network, as an expression.
        self.network: str = first.get("network")
        #: How many nodes it has.
        self.nodes: int = first.get("nodes")
        #: The node at the serial port.
        self.board: int = first.get("board")

    def _connect(self, port, baud, key_file):
        if baud is not None or key_file is not None:
            raise ValueError("the bridge at that address has been told the baud rate and the key already")
        host, _, number = port.rpartition(":")
        try:
            self._socket = socket.create_connection((host, int(number)), timeout=_HELLO_WITHIN)
        except (OSError, ValueError, OverflowError) as error:
            raise HopwiseError("no-bridge", f"{port}: {error}") from None
        self._socket.settimeout(None)
        self._input = self._socket.makefile("wb")
        self._output = self._socket.makefile("rb")

    def _start(self, port, baud, command, key_file):
        command = command or shlex.split(os.environ.get("HOPWISE", "hopwise"))
        options = [] if baud is None else ["--baud", str(baud)]
        if key_file is not None:
            options += ["--key-file", os.fspath(key_file)]
        try:
            self._process = subprocess.Popen(
                [*command, "bridge", "--port", port, *options],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            raise HopwiseError("no-bridge", f"the command {command[0]} cannot be run: {error.strerror}") from None
        self._input, self._output = self._process.stdin, self._process.stdout
        # Read all the time: a command that says more than the pipe holds would wait for ever.
        self._said = collections.deque(maxlen=_LAST_LINES)
        self._complaints = threading.Thread(target=self._said.extend, args=(self._process.stderr,), daemon=True)
        self._complaints.start()

    def send(self, node: int, service: int, message: bytes) -> None:
        """Sends a message to an application of a node. It is lost if a board dies with it."""
        self._ask("send", node=node, service=service, message=message)

    def send_confirmed(self, node: int, service: int, message: bytes) -> None:
        """Sends a message to an application of a node, and returns when it has it."""
        self._ask("send_confirmed", node=node, service=service, message=message)

    def send_to_host(self, node: int, service: int, message: bytes) -> None:
        """Sends a message to the host at a node."""
        self._ask("send_to_host", node=node, service=service, message=message)

    def broadcast(self, service: int, message: bytes) -> None:
        """Sends a message to an application of every node."""
        self._ask("broadcast", service=service, message=message)

    def request(self, node: int, service: int, message: bytes = b"", within: float = 15.0) -> bytes:
        """Asks an application of a node, once, and returns its response."""
        return self._ask_for_bytes("request", node=node, service=service, message=message, within=within)

    def request_host(self, node: int, service: int, message: bytes = b"", within: float = 15.0) -> bytes:
        """Asks the host at a node, once, and returns its response."""
        return self._ask_for_bytes("request_host", node=node, service=service, message=message, within=within)

    def serve(self, service: int, answer: Callable[[Message], bytes], seconds: Optional[float] = None) -> None:
        """Answers the requests to a service of this host: `answer` is given each, and returns up to 199 bytes. If it raises an exception
        the request is refused, and the exception goes on. Returns when the time is over; without one it goes on."""
        with self._lock:
            requests = self._requests.setdefault(service, queue.Queue(maxsize=_UNREAD))
        self._ask("serve", service=service)
        end = None if seconds is None else time.monotonic() + seconds
        try:
            for number, request in self._taken(requests, end):
                try:
                    reply = bytes(answer(request))
                except BaseException:
                    self._ask("refuse", request=number)
                    raise
                self._ask("respond", request=number, message=reply)
        finally:
            if self._gone is None:
                self._ask("leave", service=service)

    def listen(
        self, service: Optional[int] = None, node: Optional[int] = None, seconds: Optional[float] = None
    ) -> Iterator[Message]:
        """The messages for this host, from a node or for a service if you say so, as they come; until the time is over, or without end.

        Listening begins with the call, not with the first message that is taken."""
        filters = {"service": service, "node": node}
        self._ask("listen", **{name: value for name, value in filters.items() if value is not None})
        end = None if seconds is None else time.monotonic() + seconds
        return self._heard(end)

    def _heard(self, end):
        try:
            yield from self._taken(self._messages, end)
        finally:
            if self._gone is None:
                self._ask("quiet")

    def _taken(self, waiting, end):
        """What comes into a queue, until the time is over."""
        while True:
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                return
            try:
                # In pieces, so that Ctrl-C is heard.
                taken = waiting.get(timeout=0.2 if left is None else min(left, 0.2))
            except queue.Empty:
                if self._gone is not None:
                    raise self._gone from None
                continue
            yield taken

    def close(self) -> None:
        """Lets go of the serial port."""
        with self._lock:
            self._gone = self._gone or HopwiseError("closed", "the mesh is closed")
        # Whoever writes closes the input after what is written.
        self._lines.put(None)
        if self._process is not None:
            try:
                self._process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._socket is not None:
            try:
                self._socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            self._socket.close()

    def __enter__(self) -> "Mesh":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def _ask(self, what, message=None, **fields):
        answers = queue.Queue(maxsize=1)
        if message is not None:
            fields["hex"] = bytes(message).hex()
        with self._lock:
            if self._gone is not None:
                raise self._gone
            self._next_id += 1
            number = self._next_id
            self._waiting[number] = answers
            self._lines.put(json.dumps({"id": number, "do": what, **fields}) + "\n")
        try:
            answer = answers.get(timeout=fields.get("within", 0.0) + _GRACE)
        except queue.Empty:
            answer = HopwiseError("no-bridge", "the bridge does not respond")
        finally:
            with self._lock:
                self._waiting.pop(number, None)
        if isinstance(answer, HopwiseError):
            raise answer
        if "error" in answer:
            raise HopwiseError(answer.get("kind", "no-bridge"), answer["error"])
        return answer

    def _ask_for_bytes(self, what, **fields):
        answer = self._ask(what, **fields)
        try:
            return bytes.fromhex(answer["hex"])
        except (KeyError, TypeError, ValueError):
            raise _malformed(answer) from None

    def _write(self):
        """Writes what is asked, apart from those who ask: a bridge that reads nothing holds up nobody."""
        try:
            for line in iter(self._lines.get, None):
                self._input.write(line.encode())
                self._input.flush()
            self._input.close()
        except (OSError, ValueError):
            # Whoever reads finds out why, and tells.
            pass

    def _read(self, hello):
        fault = None
        try:
            for line in self._output:
                try:
                    fault = self._take(json.loads(line), hello) or fault
                except (AttributeError, KeyError, TypeError, ValueError):
                    fault = _malformed(line.decode(errors="replace"))
                    break
        except (OSError, ValueError):
            pass
        if fault is None:
            fault = HopwiseError("no-bridge", self._last_words() or "the bridge has ended")
        with self._lock:
            self._gone = self._gone or fault
            waiting = list(self._waiting.values())
        for answers in waiting:
            try:
                answers.put_nowait(self._gone)
            except queue.Full:
                pass
        try:
            hello.put_nowait(self._gone)
        except queue.Full:
            pass

    def _take(self, value, hello):
        """Passes on what the bridge says. Returns the error if that is one of the bridge itself."""
        if "hello" in value:
            value["hello"].get("version")
            _put(hello, value["hello"])
        elif "message" in value:
            _put(self._messages, _message(value["message"]))
        elif "request" in value:
            request = value["request"]
            with self._lock:
                requests = self._requests[request["service"]]
            _put(requests, (request["number"], _message(request)))
        elif value.get("id") is not None:
            with self._lock:
                answers = self._waiting.get(value["id"])
            if answers is not None:
                _put(answers, value)
        elif "error" in value:
            return HopwiseError(value["kind"], value["error"])
        return None

    def _last_words(self):
        """What the command said when it ended."""
        if self._complaints is None:
            return ""
        self._complaints.join(_LAST_WORDS_WITHIN)
        said = b"".join(self._said.copy()).decode(errors="replace").strip()
        return said.splitlines()[-1].removeprefix("hopwise: ") if said else ""


def _malformed(what):
    return HopwiseError("no-bridge", f"the bridge says what is not of its protocol: {str(what).strip()[:80]}")


def _message(fields):
    return Message(fields["node"], fields["from_host"], fields["service"], bytes.fromhex(fields["hex"]))


def _put(waiting, item):
    try:
        waiting.put_nowait(item)
    except queue.Full:
        pass

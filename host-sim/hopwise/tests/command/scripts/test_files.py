"""Files and terminals: nothing that a board or a file says reaches a terminal or a page but as text. What becomes of files is in
`transcripts/files.txt`."""

import json
import unicodedata

from support import Test

#: Clears a terminal, in both ways, and begins a page's script.
HARMFUL = "\x1b[2J\x9b2J<script>"


class Files(Test):
    def run_harmless(self, words, status):
        """Runs a command, which says nothing but text, and not too much of it."""
        ended = self.run_words(words, status)
        for text in (ended.stdout, ended.stderr):
            control = [letter for letter in text if unicodedata.category(letter) == "Cc" and letter != "\n"]
            self.assertEqual(control, [], repr(text))
            self.assertLess(len(text), 20_000)
        return ended

    def test_what_files_say_is_shown_as_text(self):
        trace = self.write("trace.jsonl", json.dumps({"network": HARMFUL}, ensure_ascii=False) + "\n")
        page = self.path("page.html")
        bad_mesh = self.write("bad.toml", f"network = {json.dumps(HARMFUL)}\n")
        long_mesh = self.mesh("long.toml", "ring" * 2_500_000)
        for words in [
            ["report", trace],
            ["view", trace, "-o", page],
            ["view", HARMFUL, "-o", page],
            ["topo", HARMFUL],
            ["sim", "ring(4)", "--script", HARMFUL],
            ["plan", bad_mesh],
            ["plan", long_mesh],
        ]:
            self.assertGreater(len(self.run_harmless(words, status=2).stderr), 20)
        # The name of a board, on the terminal and in a drawing.
        mesh = self.mesh("mesh.toml", "ring(3)", '[[node]]\naddress = 0\nname = "\\u001b[2J<b>\\u202e"\n')
        drawing = self.folder / "plan.svg"
        said = self.run_harmless(["plan", mesh, "--svg", str(drawing)], status=0).stdout
        self.assertIn("board 0 (\ufffd[2J<b>\ufffd)", said)
        drawn = drawing.read_text()
        self.assertIn("\ufffd[2J&lt;b&gt;\ufffd", drawn)
        self.assertNotIn("\x1b", drawn)

    def test_what_boards_log_is_shown_as_text(self):
        mesh = self.mesh("mesh.toml", "path(2)", '[[node]]\naddress = 0\nprobe = "AA"\n')
        image = self.write("image.elf", "")
        # The program ends the capture as Ctrl-C does.
        program = self.stand_in(
            """
            printf '1.0|INFO|\\033[2J\\302\\2332J\\r<b>\\n'
            printf '2.0|INFO|'
            head -c 10000000 /dev/zero | tr '\\0' x
            echo
            printf 'but \\033[2J\\n' >&2
            sleep 1
            kill -INT $PPID
            exec sleep 60
            """
        )
        trace = self.folder / "trace.jsonl"
        words = ["capture", mesh, "-o", str(trace), "--elf", image, "--probe-rs", program]
        ended = self.run_harmless(words, status=0)
        self.assert_like(ended.stderr, "[..]board 0: but \ufffd[2J[..]")
        self.assertIn("\ufffd[2J\ufffd2J\ufffd<b>\n", ended.stdout)
        self.assertLess(len(trace.read_text()), 10_000)

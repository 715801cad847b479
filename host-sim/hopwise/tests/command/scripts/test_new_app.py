"""A program of a user's outside the repository, as `hopwise new-app` writes it: HOPWISE_TEST_APP is its folder. What its boards do is tested in
`new_app.rs`."""

import os
import shutil
import subprocess
from pathlib import Path

from support import REPOSITORY, Test, blocks, command_and_rest, is_like

APP = Path(os.environ["HOPWISE_TEST_APP"])
IMAGE = APP / "target/thumbv7em-none-eabihf/release/hello"


class NewApp(Test):
    def test_a_program_comes_through_the_mesh(self):
        toolchain = subprocess.run([REPOSITORY / "tools/arm-target"], capture_output=True, check=True, text=True)
        environment = {name: value for name, value in os.environ.items() if name not in ("CARGO", "RUSTC", "RUSTFLAGS")}
        environment["RUSTUP_TOOLCHAIN"] = toolchain.stdout.strip()
        environment["CARGO_BUILD_BUILD_DIR"] = str(REPOSITORY / "target/firmware/build")
        subprocess.run(["cargo", "second-slot"], cwd=APP, env=environment, check=True)
        second = APP / "target/second-slot/thumbv7em-none-eabihf/release/hello"
        report = self.json(f"update path(2) --emulated --elf {IMAGE} {second}")
        self.assertEqual(report["boards"], 2)
        # One slot twice is no update.
        self.refuses(f"update path(2) --emulated --elf {IMAGE} {IMAGE}", f"{IMAGE}: [..]")

    def test_the_tutorial_prints_what_it_shows(self):
        """As its reader does: paste a program, run the command, compare what it prints."""
        folder = APP.with_name("tutorial")
        shutil.rmtree(folder, ignore_errors=True)
        self.run_command(f"new-app {folder}")
        # Where the compiler for ARM is not rustup's.
        environment = {**os.environ, "HOPWISE_REPO": str(REPOSITORY)}
        programs = 0
        for kind, text in blocks((REPOSITORY / "docs/tutorial.md").read_text()):
            if kind == "rust":
                (folder / "src/program.rs").write_text(text)
                programs += 1
                continue
            line, shown = command_and_rest(text)
            ended = self.run_command(line, cwd=folder, env=environment)
            self.assertNotIn("warning", ended.stderr)
            lines = iter(ended.stdout.splitlines())
            for expected in shown.splitlines():
                is_there = any(is_like(line, f"[..] {expected}  [..]") for line in lines)
                self.assertTrue(is_there, f"{line} does not print '{expected}' then, but\n{ended.stdout}")
        self.assertEqual(programs, 3)

    def test_what_is_no_program_for_these_boards_is_refused(self):
        image = IMAGE.read_bytes()

        def altered(name, old, new):
            """The same image with another word in its table of symbols."""
            before, found, after = image.rpartition(old)
            self.assertTrue(found)
            path = self.folder / name
            path.write_bytes(before + new + after)
            return path

        other = altered("other", b"_board_nucleo_f446re", b"_board_nucleo_f411re")
        without = altered("without", b"_configuration_slots", b"_configuration_slotz")
        text = self.write("text", "no image\n")
        nothing = "there is neither a crate nor an image: a crate is a folder with a Cargo.toml, `hopwise new-app` writes one"
        for path, sentence in [
            (other, f"{other} is an image for nucleo-f411re, and the board is a nucleo-f446re"),
            (without, f"{without} is not built on hopwise-firmware: it has no place for the configuration"),
            (text, f"{text}: [..]"),
            ("/nowhere", f"/nowhere: {nothing}"),
        ]:
            self.refuses(f"emulate ring(3) --app {path}", sentence)
        broken = self.folder / "broken"
        broken.mkdir()
        (broken / "Cargo.toml").write_text("[package]\n")
        said = self.run_command(f"emulate ring(3) --app {broken}", status=2).stderr
        self.assertEqual(said.splitlines()[-1], f"hopwise: {broken} does not build; cargo says why above")

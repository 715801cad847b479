"""Flashing, against a stand-in for the probe-rs program that writes down how it was called."""

import time
from pathlib import Path

from support import Test

MESH = """
network = "ring(3)"
board = "nucleo-l476rg"
log-packets = true

[[node]]
address = 0
probe = "AA00"
[[node]]
address = 1
probe = "BB11"
name = "one"
[[node]]
address = 2
probe = "0483:3752:CC22"
"""

#: Sizes of a config and of the records below it in the flash, and where a config has its expression and a commit record its epoch.
CONFIG_BYTES, RECORD, EXPRESSION, EPOCH = 192, 32, 48, 8


class Flash(Test):
    def setUp(self):
        super().setUp()
        self.image = self.write("image.elf", "")

    def calls(self, probe=""):
        """The calls for a board, or all, without the folders of files."""
        lines = (self.folder / "calls").read_text().splitlines()
        return [" ".join(Path(word).name for word in line.split(" ")) for line in lines if probe in line]

    def slot(self, node):
        return (self.folder / f"config-{node}.bin").read_bytes()

    def test_every_board_gets_image_config_and_reset_and_failures_are_named(self):
        mesh = self.write("mesh.toml", MESH)
        # Writes its arguments into `calls`, a line a call, and keeps the configs; board BB11 fails at its config.
        program = self.stand_in(
            f"""
            echo "$*" >> '{self.folder}/calls'
            for file in "$@"; do :; done
            case "$*" in
                *BB11*bin*) echo 'Error: noise' >&2; echo '  the chip is locked' >&2; exit 1;;
                *config-*) cp "$file" '{self.folder}/';;
            esac
            """
        )
        flash = f"flash {mesh} --elf {self.image} --probe-rs {program}"
        ended = self.run_command(flash, status=1)
        failed = "board 1 (probe 0483:374b:BB11) failed at its config: the chip is locked"
        self.assertEqual(ended.stdout, f"2 of 3 boards flashed\n  {failed}\n")
        again = f"not flashed: 1 of 3 boards; to retry only those: hopwise flash {mesh} --only 1"
        self.assertEqual(ended.stderr, f"hopwise: {again}\n")
        config = "--binary-format bin --base-address 0x080fe000 --disable-progressbars --verify"
        for node, probe in [(0, "0483:374b:AA00"), (2, "0483:3752:CC22")]:
            board = f"--chip STM32L476RG --probe {probe}"
            expected = [
                f"download {board} --disable-progressbars --verify image.elf",
                f"download {board} {config} config-{node}.bin",
                f"reset {board}",
            ]
            self.assertEqual(self.calls(probe), expected)
            slot = self.slot(node)
            # Its options, its address and its network.
            found = (slot[7], int.from_bytes(slot[8:16], "little"), slot[EXPRESSION:][: slot[5]])
            self.assertEqual(found, (0b1001, node, b"ring(3)"))
            # The other slot is emptied.
            rest = slot[CONFIG_BYTES + RECORD :]
            self.assertGreater(len(slot), 4096)
            self.assertEqual(rest, b"\xff" * len(rest))
        self.assertEqual(len(self.calls("BB11")), 2, "it is not reset after a failure")
        # Only the one that failed is tried again.
        (self.folder / "calls").unlink()
        self.run_command(f"{flash} --only 1", status=1)
        calls = (self.folder / "calls").read_text().splitlines()
        self.assertTrue(all("BB11" in call for call in calls), calls)
        self.assertFalse(Path(calls[1].split(" ")[-1]).exists(), "configs are cleaned away")

    def test_a_board_with_keys_counts_its_starts_on(self):
        """Whatever the host's clock says, a board with keys never has the number of a start again."""
        mesh = self.write("mesh.toml", 'key = "000102030405060708090a0b0c0d0e0f"\n' + MESH)
        slots = self.folder / "slots"
        slots.write_bytes(bytes(8192))
        program = self.stand_in(
            f"""
            for file in "$@"; do :; done
            case "$*" in
                *AA00*b32*) cat '{slots}';;
                *BB11*b32*) head -c 8192 /dev/zero;;
                *CC22*b32*) tr '\\0' '\\377' < /dev/zero | head -c 8192;;
                *config-*) cp "$file" '{self.folder}/';;
            esac
            """
        )
        flash = f"flash {mesh} --elf {self.image} --probe-rs {program}"

        def epoch(node):
            return int.from_bytes(self.slot(node)[CONFIG_BYTES + EPOCH :][:4], "little")

        self.run_command(flash)
        now = time.time()
        for node in range(3):
            self.assertLess(abs(now - epoch(node)), 1_000)
        # Node 0 was flashed when the clock of the host was far ahead, and started once since.
        far = 0xA000_0000
        slot = bytearray(self.slot(0))
        slot[CONFIG_BYTES + EPOCH : CONFIG_BYTES + EPOCH + 4] = far.to_bytes(4, "little")
        boot = (far + 1).to_bytes(4, "little") + (~(far + 1) & 0xFFFF_FFFF).to_bytes(4, "little")
        # Below the commit record, its confirmation and the keys.
        starts = CONFIG_BYTES + 3 * RECORD
        slot[starts : starts + len(boot)] = boot
        slots.write_bytes(slot.ljust(8192, b"\xff"))
        self.run_command(flash)
        self.assertEqual(epoch(0), far + 1)
        # What cannot be read is not flashed.
        slots.write_bytes(b"\xff" * 9)
        said = self.run_command(f"{flash} --only 0", status=1).stdout
        self.assertIn("failed at its number of starts: 9 of 8192 bytes were read", said)

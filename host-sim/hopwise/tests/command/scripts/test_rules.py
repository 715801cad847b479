"""Images that break a rule of the chip: the exit status is 1 and the rule is named. They are assembled here, so that they are the same with
any compiler, or none."""

import struct

from support import Test, rows

FLASH, STACK = 0x0800_0000, 0x2000_2000
REGISTERS = {
    "AHB1ENR": 0x4002_3830,
    "APB1ENR": 0x4002_3840,
    "DMA1_S0CR": 0x4002_6010,
    "DMA1_S0M0AR": 0x4002_601C,
    "FLASH_KEYR": 0x4002_3C04,
    "GPIOA_MODER": 0x4002_0000,
    "OPTCR": 0x4002_3C14,
    "OPTKEYR": 0x4002_3C08,
    "SCR": 0xE000_ED10,
    "USART2_BRR": 0x4000_4408,
    "VTOR": 0xE000_ED08,
}

#: What each program writes, into a register by its name or by its address in hexadecimal, and the rule that it breaks; or the register that is
#: not modeled, which is an error unless one is lenient. Its place is that of the fourth instruction at most: each write takes four halfwords.
RULES = """
clock on: APB1ENR=20000 USART2_BRR=8b => nothing
clock off: USART2_BRR=8b => clocked: [..]
flash written without PG: FLASH_KEYR=45670123 FLASH_KEYR=cdef89ab 8060000=0 => flash-order: [..]
DMA off: AHB1ENR=200000 DMA1_S0M0AR=20002000 DMA1_S0M0AR=20002004 => nothing
DMA to a place that is moved while it runs: AHB1ENR=200000 DMA1_S0M0AR=20002000 DMA1_S0CR=1 DMA1_S0M0AR=20002004 => dma: [..]
sleep: SCR=2 => nothing
deep sleep: SCR=4 => sleep: [..]
a table in its place: VTOR=8000200 => nothing
a table between places: VTOR=8000180 => vector-table: [..]
an LED: AHB1ENR=1 GPIOA_MODER=a8000400 => nothing
SWDIO as an output: AHB1ENR=1 GPIOA_MODER=a4000000 => debug-pins: [..]
locked option bytes: OPTCR=fffccec => option-bytes: [..]
a board that no probe reaches any more: OPTKEYR=8192a3b OPTKEYR=4c5d6e7f OPTCR=fffccec OPTCR=fffccee => option-bytes: read protection of level 2[..]
MPU: e000ed94=5 => not modeled: bits 0x5 of MPU are not modeled, at 0x0800000c
timers at twice their rate: 4002388c=1000000 => not modeled: RCC, register 0x8c, is not modeled, at 0x0800000c
a pin that is locked: AHB1ENR=1 4002001c=1 => not modeled: GPIOA, register 0x1c, is not modeled, at 0x08000014
the voltage detector: APB1ENR=10000000 40007000=c010 => nothing
CAN: 40006400=0 => not modeled: CAN1 is not modeled, at 0x0800000c
a checksum of SPI: APB1ENR=4000 40003800=2004 => not modeled: bits 0x2000 of SPI2 CR1 are not modeled, at 0x08000014
an edge that is captured: APB1ENR=1 40000018=1 => not modeled: TIM2, register 0x18, is not modeled, at 0x08000014
"""


def elf(address, piece):
    """An ELF file for ARM with one piece, which is for this address and begins with its vectors: stack pointer and entry."""
    ident = b"\x7fELF\x01\x01\x01".ljust(16, b"\0")
    # Executable, ARM, version 1, where it starts; where its table of pieces is, and how large that is.
    header = struct.pack("<HHIIIIIHHHHHH", 2, 40, 1, address + 9, 52, 0, 0x0500_0000, 52, 32, 1, 40, 0, 0)
    # To be loaded, to be read, written and executed.
    return ident + header + struct.pack("<8I", 1, 84, address, address, len(piece), len(piece), 7, 4) + piece


def image(writes):
    """An image that writes words to addresses, one after the other, and then waits for interrupts for ever."""
    # For each write: ldr r0, address; ldr r1, value; str r1, [r0]; nop. In the end wfi, and a branch to it.
    code_bytes = 8 * len(writes) + 4
    code, literals = [], []
    for write in writes:
        for register, value in enumerate(write):
            after = (2 * len(code) + 4) & ~3
            offset = (code_bytes + 4 * len(literals) - after) // 4
            code.append(0x4800 | register << 8 | offset)
            literals.append(value)
        code += [0x6001, 0xBF00]
    code += [0xBF30, 0xE7FD]
    piece = struct.pack("<2I", STACK, FLASH + 9) + struct.pack(f"<{len(code)}H", *code)
    return elf(FLASH, piece + struct.pack(f"<{len(literals)}I", *literals))


def write(text):
    """A write such as `AHB1ENR=1`: an address and a value."""
    place, value = text.split("=")
    return REGISTERS[place] if place in REGISTERS else int(place, 16), int(value, 16)


class Rules(Test):
    def test_an_image_that_breaks_a_rule_is_told_by_its_name(self):
        path = self.folder / "image.elf"
        line = f"emulate path(2) --elf {path} --for 1ms"
        for program, told in rows(RULES):
            with self.subTest(program):
                writes = program.split(": ")[1].split()
                path.write_bytes(image([write(text) for text in writes]))
                if told.startswith("not modeled: "):
                    register = told.removeprefix("not modeled: ")
                    self.assertEqual(self.json(line, status=1)["unmodelled"], [register])
                    self.assertEqual(self.json(f"{line} --lenient")["unmodelled"], [register])
                    continue
                figures = self.json(line, status=0 if told == "nothing" else 1)
                self.assertEqual(figures["faults"], 0, figures)
                if told == "nothing":
                    self.assertEqual(figures["violations"], [])
                else:
                    [violation] = figures["violations"]
                    self.assert_like(violation, told)

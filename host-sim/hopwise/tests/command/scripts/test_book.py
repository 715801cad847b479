"""The book in docs/: what it shows is what the command prints, and what it and other files point to is there."""

import json
import os
import re

from support import REPOSITORY, Test, blocks, command_and_rest, is_like

DOCS = REPOSITORY / "docs"


def pages():
    """The pages of the book, and the READMEs of everything."""
    names = ["README.md", "CONTRIBUTING.md", "RELEASE-CHECKLIST.md", "SECURITY.md"]
    readmes = [*REPOSITORY.glob("*/README.md"), *REPOSITORY.glob("host-sim/*/README.md")]
    paths = sorted([*DOCS.glob("*.md"), *(REPOSITORY / name for name in names), *readmes])
    return [(path, path.read_text()) for path in paths]


def texts(page, kind):
    """The fenced blocks of a page whose kind begins like this."""
    return [text for found, text in blocks(page) if found.startswith(kind)]


def is_as_shown(shown, printed):
    """Whether a text is as it is shown, in which `[..]` stands for what differs from run to run; on a line of its own, for all that follows."""
    shown, printed = shown.splitlines(), printed.splitlines()
    if "[..]" in shown:
        kept = shown.index("[..]")
        shown, printed = shown[:kept], printed[:kept]
    return len(shown) == len(printed) and all(map(is_like, printed, shown))


def code(text):
    """Lines of code, without comments."""
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("//")]


def source(text):
    """The lines of code of a source: the examples in its comments are compiled as well."""
    return code(re.sub(r"^\s*//[!/] ", "", text, flags=re.MULTILINE))


def sources(folders):
    """All Rust below these folders, with what `hopwise new-app` writes."""
    for folder in folders:
        for around, below, names in os.walk(REPOSITORY / folder):
            below[:] = [name for name in below if name != "target"]
            for name in names:
                if name.endswith((".rs", ".rs.txt")):
                    with open(os.path.join(around, name)) as file:
                        yield file.read()


def is_from(block, lines):
    """Whether code is in a source, perhaps with lines left out."""
    lines = iter(lines)
    return all(line in lines for line in block)


def anchor(heading):
    """What a heading is called in links to it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def shown_by(text):
    """What a guarantee is shown by, in backticks: names of tests, and commands that measure it."""
    for name in text.split("`")[1::2]:
        is_test = name.count("_") > 1 and re.fullmatch(r"[A-Za-z0-9_]*", name)
        if is_test or name.startswith(("hopwise ", "tools/", "cargo test ")):
            yield name


#: Sections of the pages about guarantees that promise nothing.
EXPLAINED = ("What is not guaranteed", "How to use one", "How it is tested", "What it costs")

#: What the pictures of the book are drawn by. Those of boards are compared with their files by a test of the rig.
PICTURES = {
    "ring-3.svg": "view ring(3)",
    "rdn-3-1.svg": "view rdn(ring(3),1)",
    "rdn-3-1-addresses.svg": "view rdn(ring(3),1) --addresses",
    "rdn-3-1-route.svg": "view rdn(ring(3),1) --addresses --route 0 17",
}


class Book(Test):
    def test_commands_print_what_the_book_shows(self):
        commands = 0
        for path, text in pages():
            for block in texts(text, "console"):
                line, shown = command_and_rest(block)
                printed = self.run_command(line).stdout
                self.assertTrue(is_as_shown(shown, printed), f"{path}: {line} prints\n{printed}")
                commands += 1
        self.assertGreaterEqual(commands, 5)

    def test_rust_in_the_book_is_code_that_is_compiled(self):
        """The tutorial's programs are run by a test of `hopwise new-app`, the READMEs of crates by those crates."""
        compiled = [source(text) for text in sources(["core", "app", "team", "firmware/examples", "host-sim"])]
        found = 0
        for path, page in pages():
            library = path.with_name("src") / "lib.rs"
            is_run = library.exists() and 'include_str!("../README.md")' in library.read_text()
            if path == DOCS / "tutorial.md" or is_run:
                continue
            for block in map(code, texts(page, "rust")):
                self.assertTrue(any(is_from(block, lines) for lines in compiled), f"{path}: in no source: {block}")
                found += 1
        self.assertGreater(found, 9)

    def test_every_promise_names_its_test(self):
        functions = set()
        for text in sources(["codec", "node", "runner", "host-sim"]):
            functions.update(re.findall(r"^[ /!]*fn (\w+)", text, re.MULTILINE))
        for script in REPOSITORY.glob("host-sim/hopwise/tests/command/scripts/*.py"):
            functions.update(re.findall(r"^ *def test_(\w+)", script.read_text(), re.MULTILINE))
        promises = 0
        for page in ["delivery.md", "keys.md"]:
            for section in (DOCS / page).read_text().split("\n## ")[1:]:
                if section.startswith(EXPLAINED):
                    continue
                paragraphs = [part for block in section.split("\n\n")[1:] for part in block.split("\n- ")]
                for paragraph in paragraphs:
                    if paragraph.startswith(("|", "#")):
                        continue
                    names = list(shown_by(paragraph))
                    self.assertTrue(names, f"{page}: this names no test: {paragraph}")
                    missing = [name for name in names if not re.search("[/ ]", name) and name not in functions]
                    self.assertEqual(missing, [], f"{page} names a test that is not there")
                    promises += 1
        self.assertGreater(promises, 25)

    def test_code_that_differs_is_noticed(self):
        lines = source("//! let a = 1;\n//! /// How.\nfn f() {\n    // Why.\n    g();\n}\n")
        self.assertEqual(lines, ["let a = 1;", "fn f() {", "g();", "}"])
        self.assertTrue(is_from(["fn f() {", "}"], lines))
        for other in [["g();", "fn f() {"], ["g()"]]:
            self.assertFalse(is_from(other, lines), other)

    def test_what_differs_is_noticed(self):
        self.assertTrue(is_as_shown("a\nb [..] c\n[..]\n", "a\nb 17 c\nd\ne\n"))
        for printed in ["a\n", "a\nb\n", "a\nb 17 d\nd\n", "b\nb 1 c\nd\n", ""]:
            self.assertFalse(is_as_shown("a\nb [..] c\n", printed), printed)
        self.assertFalse(is_as_shown("a\n", "a\nb\n"))

    def test_files_that_pages_name_are_there(self):
        """Those below a folder of the repository, apart from what is built."""
        named = 0
        for path, text in pages():
            for name in text.split("`")[1::2]:
                folder, slash, _ = name.partition("/")
                is_pattern = re.search(r"NAME|BOARD|[ *{=]", name)
                is_file = slash and "." in name and not is_pattern and folder not in ("", "target", "src", "tests")
                if is_file and (REPOSITORY / folder).is_dir():
                    self.assertTrue((REPOSITORY / name).exists(), f"{path}: {name}")
                    named += 1
        self.assertGreaterEqual(named, 50)

    def test_links_lead_to_a_file_and_to_a_heading(self):
        files = headings_named = 0
        for path, text in pages():
            for target in re.findall(r"\]\(([^)]*)\)", text):
                file, _, place = target.partition("#")
                if "://" in file:
                    continue
                page = path.parent / file if file else path
                self.assertTrue(page.exists(), f"{path}: there is no {target}")
                files += bool(file)
                if place and page.suffix == ".md":
                    headings = [line.lstrip("#").strip() for line in page.read_text().splitlines() if line.startswith("#")]
                    self.assertIn(place, map(anchor, headings), f"{path}: {target} leads to no heading")
                    headings_named += 1
        self.assertGreater(files, 50)
        self.assertGreater(headings_named, 20)

    def test_tools_that_other_files_name_are_there(self):
        """In workflows and in the container."""
        named = 0
        for file in [*REPOSITORY.glob(".github/workflows/*"), REPOSITORY / "Containerfile"]:
            for word in re.split(r"[\s\"'`,;()]", file.read_text()):
                if word.startswith(("tools/", "host-sim/")):
                    self.assertTrue((REPOSITORY / word).exists(), f"{file}: {word}")
                    named += 1
        self.assertGreater(named, 8)

    def test_the_book_lists_every_command_as_the_help_does(self):
        _, help = self.run_command("help").stdout.split("\n\nTo begin:", 1)
        groups, _ = help.split("\n\nOptions:", 1)
        expected = []
        for line in filter(None, f"To begin:{groups}".splitlines()):
            name, blanks, about = line.strip().partition("  ")
            expected.append(f"| `{name}` | {about.strip()} |" if blanks else f"## {line.rstrip(':')}")
        tables, _ = (DOCS / "commands.md").read_text().split("\n## For scripts", 1)
        listed = []
        for line in tables.splitlines():
            if line.startswith("| `"):
                # The last column is a link to where the book says more.
                listed.append(line.rsplit(" |", 2)[0] + " |")
            elif line.startswith("## "):
                listed.append(line)
        self.assertEqual(listed, expected)
        self.assertGreater(len(expected), 30)

    def test_the_book_has_every_page(self):
        summary = (DOCS / "SUMMARY.md").read_text()
        for page in DOCS.glob("*.md"):
            is_listed = page.name == "SUMMARY.md" or f"({page.name})" in summary
            self.assertTrue(is_listed, f"docs/SUMMARY.md lacks {page.name}")

    def test_pictures_are_those_that_our_tools_draw(self):
        for name, line in PICTURES.items():
            drawn = self.folder / name
            self.run_command(f"{line} --svg {drawn}")
            is_same = drawn.read_text() == (DOCS / name).read_text()
            self.assertTrue(is_same, f"docs/{name} is another: hopwise {line} --svg docs/{name}")

    def test_the_keys_that_the_book_lists_are_printed(self):
        commands = 0
        for block in texts((DOCS / "json.md").read_text(), "keys"):
            line, listed = command_and_rest(block)
            printed = json.loads(self.run_command(line, status=None).stdout).keys()
            listed = listed.splitlines()
            # Keys stand before two blanks, with commas between them.
            keys = {key for row in listed if row != "..." for key in row.split("  ")[0].split(", ")}
            self.assertEqual(keys - printed, set(), f"{line} does not print these")
            if "..." not in listed:
                self.assertEqual(printed - keys, set(), f"docs/json.md: {line} prints these besides")
            commands += 1
        self.assertGreater(commands, 8)

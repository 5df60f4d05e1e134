"""Faults to plant in the tiny cookbook's one recipe, and where they go."""

PAGE = "docs/en/training/label-smoothing.md"
TWIN = "docs/zh/training/label-smoothing.md"
SNIPPET = "snippets/training/label_smoothing.py"
TEST = "tests/snippets/training/test_label_smoothing.py"
OPEN, INCLUDE = "```python\n", '--8<-- "training/label_smoothing.py"\n'
BLOCK = f"{OPEN}{INCLUDE}```\n"  # on lines 8 to 10 of both pages


class Change:
    """Replace one place of some files."""

    def __init__(self, *paths: str, old: str, new: str):
        self.paths, self.old, self.new = paths, old, new

    def __call__(self, cookbook):
        for path in self.paths:
            cookbook.replace(path, self.old, self.new)


class Append:
    """Add lines at the end of some files; a page has ten, the snippet three."""

    def __init__(self, *paths: str, text: str):
        self.paths, self.text = paths, text

    def __call__(self, cookbook):
        for path in self.paths:
            before = (cookbook.root / path).read_text(encoding="utf-8")
            cookbook.write(path, before + self.text)


class Write:
    """Add a file."""

    def __init__(self, path: str, text: str):
        self.path, self.text = path, text

    def __call__(self, cookbook):
        cookbook.write(self.path, self.text)


class Encode:
    """Save a file in another encoding."""

    def __init__(self, path: str, encoding: str):
        self.path, self.encoding = path, encoding

    def __call__(self, cookbook):
        file = cookbook.root / self.path
        file.write_text(file.read_text(encoding="utf-8"), encoding=self.encoding)


class Link:
    """Put a symbolic link in a file's place."""

    def __init__(self, path: str, target: str):
        self.path, self.target = path, target

    def __call__(self, cookbook):
        (cookbook.root / self.path).unlink(missing_ok=True)
        (cookbook.root / self.path).symlink_to(self.target)


class Move:
    """Give both pages another place below docs/<lang>/; or copy them there."""

    def __init__(self, place: str, keep: bool = False):
        self.place, self.keep = place, keep

    def __call__(self, cookbook):
        for lang, page in (("en", PAGE), ("zh", TWIN)):
            text = (cookbook.root / page).read_text(encoding="utf-8")
            cookbook.write(f"docs/{lang}/{self.place}", text)
            if not self.keep:
                (cookbook.root / page).unlink()


class Remove:
    def __init__(self, path: str):
        self.path = path

    def __call__(self, cookbook):
        (cookbook.root / self.path).unlink()


class Both:
    def __init__(self, *plants):
        self.plants = plants

    def __call__(self, cookbook):
        for plant in self.plants:
            plant(cookbook)


def opened(fence: str) -> Change:
    """The English page's block, under another opening fence."""
    return Change(PAGE, old=OPEN, new=f"{fence}\n")


def included(line: str) -> Change:
    """The English page's block, around another line."""
    return Change(PAGE, old=INCLUDE, new=f"{line}\n")


def marked(mark: str) -> Change:
    """The English page's block, below another line."""
    return Change(PAGE, old=OPEN, new=f"{mark}\n{OPEN}")


def headed(line: str) -> Change:
    """The English page, with a line of front matter before the aliases."""
    return Change(PAGE, old="aliases:", new=f"{line}\naliases:")


def coded(text: str) -> Append:
    """The snippet, with more lines from its fourth on."""
    return Append(SNIPPET, text=text)


EXPECT = """
PAGE = "training/label-smoothing"


{}def test_errors({}):
    with raises_as_documented(PAGE, {}):
        {{}}[1]
"""
EXPECTED = Append(TEST, text=EXPECT.format("", "", "'KeyError:'"))

"""Plants faults in the tiny cookbook's one recipe; faults.toml says how."""

PAGE = "docs/en/training/label-smoothing.md"
TWIN = "docs/zh/training/label-smoothing.md"
SNIPPET = "snippets/training/label_smoothing.py"
OUTPUT = "snippets/training/label_smoothing.out"
PICTURE = "snippets/training/label_smoothing.svg"
TEST = "tests/snippets/training/test_label_smoothing.py"
UNRAISED = "tests/unraised.toml"
CLAIM = "assert 1 + 1 == 2"
OPEN, INCLUDE = "```python\n", '--8<-- "training/label_smoothing.py"\n'
BLOCK = f"{OPEN}{INCLUDE}```\n"  # on lines 8 to 10 of both pages
GPU = "<!--pytest.mark.gpu-->"

# Short names of files; any other name is a path.
FILES = {
    "en": (PAGE,),
    "zh": (TWIN,),
    "both": (PAGE, TWIN),
    "py": (SNIPPET,),
    "out": (OUTPUT,),
    "svg": (PICTURE,),
    "test": (TEST,),
    "list": ("docs/categories.yml",),
    "moved": ("docs/moved.yml",),
    "unraised": (UNRAISED,),
    "other": ("docs/en/training/other.md",),
}
# Names of places: the files, what is there, and what comes instead of it.
PLACES = {
    "include": ((PAGE,), INCLUDE, "{}\n"),
    "fence": ((PAGE,), OPEN, "{}\n"),
    "block": ((PAGE,), BLOCK, "{}\n"),
    "mark": ((PAGE,), OPEN, f"{{}}\n{OPEN}"),
    "head": ((PAGE,), "aliases:", "{}\naliases:"),
    "answer": ((PAGE,), f'answer: "{CLAIM}"\n', "answer: {}\n"),
    "claim": ((SNIPPET, PAGE), CLAIM, "{}"),
}


def plant(cookbook, **changes) -> None:
    """Change files of the cookbook, each as faults.toml describes it."""
    for name, change in changes.items():
        if name == "other":  # a second recipe, which is then changed
            cookbook.recipe("other", cookbook.CLAIM)
        elif name == "gpu":
            name, change = "both", [OPEN, f"{GPU}\n{OPEN}"]
        elif name == "lines":
            name, change = "py", "x = 0\n" * change
        elif name == "numbers":
            name, change = "svg", "".join(map(str, range(change)))
        elif name == "raises":
            name, change = "test", RAISES.format(change)
        elif name in ("copy", "move"):
            copy(cookbook, change, keep=name == "copy")
            continue
        if name in PLACES:
            paths, old, new = PLACES[name]
            change = [old, new.format(change)]
        else:
            paths = FILES.get(name, (name,))
        for path in paths:
            edit(cookbook, path, change)


def edit(cookbook, path: str, change: bool | str | list | dict) -> None:
    """Remove, lengthen, replace a place of, or encode one file."""
    file = cookbook.root / path
    if change is False:
        file.unlink()
    elif isinstance(change, list):
        cookbook.replace(path, *change)
    elif isinstance(change, dict):
        text = file.read_text("utf-8") + change.get("text", "")
        file.write_text(text, encoding=change["encoding"])
    else:
        before = file.read_text("utf-8") if file.exists() else ""
        gap = "\n" if before and path.endswith(".md") else ""
        cookbook.write(path, before + gap + change.removesuffix("\n") + "\n")


def copy(cookbook, place: str, keep: bool) -> None:
    """Give both pages another place below docs/<lang>/."""
    for lang, page in (("en", PAGE), ("zh", TWIN)):
        text = (cookbook.root / page).read_text("utf-8")
        cookbook.write(f"docs/{lang}/{place}", text)
        if not keep:
            (cookbook.root / page).unlink()


# A test that raises the message which a page quotes.
RAISES = """
PAGE = "{}"


def test_errors():
    with raises_as_documented(PAGE, 'KeyError:'):
        {{}}[1]
"""

# What a record says of an environment.
ENVIRONMENT = {
    "torch": "2.15.0+cu132",
    "torchvision": "0.29.2",
    "numpy": "2.4.6",
    "python": "3.11.7",
    "platform": "Linux x86_64",
    "kind": "cpu",
    "device": "CPU",
    "cuda": None,
    "date": "2026-11-20",
    "commit": "0" * 40,
}


def passed(block, **facts) -> dict:
    """A run of a block as a record has it."""
    run = {"path": block.path, "sha256": block.sha256, "status": "passed"}
    return run | {"cpu_seconds": 0.26} | facts

"""``mkdocs build`` publishes the whole site, or says what is wrong and nothing."""

import json

import pytest

PAGES = ("docs/en/training/label-smoothing.md", "docs/zh/training/label-smoothing.md")


@pytest.fixture
def build(cookbook):
    """Builds as ``make site`` does, with scratch/ for temporary files."""
    scratch = cookbook.root / "scratch"
    scratch.mkdir()

    def build(option: str = "--strict"):
        done = cookbook.command("mkdocs", "build", option, TMPDIR=str(scratch))
        return done.returncode, done.stdout + done.stderr

    return build


def snapshot(folder) -> dict:
    """Every file below a folder: its content and when it was written."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def test_a_sound_cookbook_is_built_then_kept_when_a_fault_stops_the_build(
    cookbook, build
):
    site, scratch = cookbook.root / "site", cookbook.root / "scratch"
    code, output = build()
    assert code == 0, output
    for lang in ("en", "zh"):
        html = (site / lang / "training/label-smoothing/index.html").read_text("utf-8")
        assert "Add two numbers" in html
    (recipe,) = json.loads((site / "recipes.json").read_text("utf-8"))["recipes"]
    assert recipe["slug"] == "label-smoothing"
    before = snapshot(site)

    # One fault that the checks find, and one that only MkDocs finds, late.
    cookbook.replace(PAGES[0], "```python", "```py")
    code, output = build()
    assert code != 0
    assert f"{PAGES[0]}:8: P206 a block of ```py would be shown but not run" in output
    assert snapshot(site) == before

    link = "[gone](../training/)\n\n```python"
    cookbook.replace(PAGES[0], "```py", link)
    cookbook.replace(PAGES[1], "```python", link)
    code, output = build()
    assert code != 0
    assert (
        "'training/label-smoothing.md' contains an unrecognized relative link" in output
    )
    assert snapshot(site) == before
    assert list(scratch.iterdir()) == []


def test_a_second_build_replaces_what_the_first_one_left(cookbook, build):
    for option in ("--strict", "--dirty"):
        code, output = build(option)
        assert code == 0, output
    assert not (cookbook.root / "site/en/en").exists()


def misplace(cookbook):
    for page in PAGES:
        text = (cookbook.root / page).read_text("utf-8")
        cookbook.write(page.replace("/training/", "/other/"), text)
        (cookbook.root / page).unlink()


FAULTS = {
    "unknown category": (
        misplace,
        "docs/en/other/label-smoothing.md:1: P401 unknown category other; add it to ",
    ),
    "front matter": (
        lambda cookbook: cookbook.replace(PAGES[0], "Use it", "Use: it"),
        f"{PAGES[0]}:3: P102 the front matter is not YAML (",
    ),
    "missing snippet": (
        lambda cookbook: cookbook.replace(PAGES[1], "label_smoothing.py", "none.py"),
        f"{PAGES[1]}:9: P203 no snippet training/none.py; write --8<-- ",
    ),
}


@pytest.mark.parametrize(("plant", "message"), FAULTS.values(), ids=FAULTS)
def test_a_fault_stops_the_build_with_its_message_alone(
    cookbook, build, plant, message
):
    plant(cookbook)
    code, output = build()
    assert code != 0
    assert message in output
    assert "Traceback" not in output
    assert not (cookbook.root / "site").exists()
    assert list((cookbook.root / "scratch").iterdir()) == []

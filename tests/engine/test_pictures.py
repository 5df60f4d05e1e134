"""Pictures that snippets draw: recorded, compared, shown, and told in words."""

import base64
import html
import io

import pytest
from PIL import Image

from cookbook.catalogue import Catalogue
from cookbook.running import pictures
from cookbook.site.render import full_markdown, site_markdown
from tests.engine.plants import PAGE, PICTURE, TWIN


def pixel(grey: int) -> str:
    file = io.BytesIO()
    Image.new("L", (1, 1), grey).save(file, "png")
    return base64.b64encode(file.getvalue()).decode()


SLUG = "label-smoothing"
DRAW = '''
"""Draw a line."""

from pathlib import Path

# It is there before Matplotlib would make it, which takes up to forty seconds.
(fonts,) = Path.home().glob(".cache/matplotlib/fontlist-*")

import matplotlib.pyplot as plt

fig, ax = plt.subplots()
ax.plot([1, 2])
assert ax.set_title("up").get_text() == "up"
fig.savefig("label_smoothing.svg")
'''.lstrip()
ALT = {PAGE: "A line that goes <up>.", TWIN: "一条上升的线。"}
DARK, NEARLY, LIGHT = map(pixel, (0, 2, 9))
SVG = f"""<svg><path d="M 1 2.5" style="fill: #3b82d6"/>
<text x="3">0.98</text><image href="data:image/png;base64,{DARK}"/></svg>"""


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("2.5", "2.51", True),  # machines round
        (DARK, NEARLY, True),
        ("<text", "<g></g><text", True),  # another release of Matplotlib
        ("2.5", "2.6", False),
        ('x="3"', 'x="4"', False),
        ("3b82d6", "3b82d7", False),
        ("0.98", "0.99", False),
        (DARK, LIGHT, False),
        ("<text", '<path d="M 1 2"/><text', False),
    ],
)
def test_pictures_are_the_same_but_for_rounding(old, new, same):
    assert SVG.count(old) == 1
    assert pictures.matches(SVG, SVG.replace(old, new)) == same


def test_a_picture_is_recorded_compared_and_shown(cookbook):
    cookbook.recipe(SLUG, DRAW)
    cookbook.recipe("other", DRAW.replace("label_smoothing", "other"))
    cookbook.pytest("--record")
    drawn = (cookbook.root / PICTURE).read_text("utf-8")
    assert ">up</text>" in drawn
    assert "#000000" not in drawn
    for path, alt in ALT.items():
        cookbook.replace(path, "aliases:", f"alt: {{label_smoothing: {alt}}}\naliases:")
    catalogue = Catalogue(cookbook.root)
    english, chinese = catalogue.by_slug[SLUG].pages.values()
    shown = site_markdown(catalogue, english)
    assert f'<svg role="img" aria-label="{html.escape(ALT[PAGE])}"' in shown
    assert drawn.removeprefix("<svg ") in shown
    assert f"\n\n> 图：{ALT[TWIN]}\n" in full_markdown(catalogue, chinese)
    cookbook.replace("snippets/training/other.py", "[1, 2]", "[1, 3]")
    run = cookbook.pytest("-k", "py")
    assert run.of(SLUG) == ("passed", "")
    problem = "drew otherwise than snippets/training/other.svg; look at it"
    assert problem in run.of("other")[1]

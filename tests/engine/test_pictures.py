"""When two pictures that a snippet draws are the same."""

import base64
import io

import pytest
from PIL import Image

from cookbook.running import pictures


def pixel(grey: int) -> str:
    file = io.BytesIO()
    Image.new("L", (1, 1), grey).save(file, "png")
    return base64.b64encode(file.getvalue()).decode()


DARK, NEARLY, LIGHT = map(pixel, (0, 2, 9))
SVG = f"""<svg><path d="M 1 2.5" style="fill: #3b82d6"/>
<text x="3">0.98</text><image href="data:image/png;base64,{DARK}"/></svg>"""


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("2.5", "2.51", True),  # machines round
        (DARK, NEARLY, True),
        ("<text", "<g></g><text", True),  # another release of Matplotlib
        ("<text", '<text transform="rotate(-0 3 4)"', True),  # turns nothing
        ("<text", '<text transform="rotate(-90 3 4)"', False),
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


DRAWN = """<?xml version="1.0"?>
<svg width="9pt">
 <g id="axes_1">
  <g clip-path="url(#p)">
   <g><path d="M 1.23456 2" style="fill: #000000"/></g>
  </g>
  <text style="font-size: 10px; font-family: 'DejaVu Sans', sans-serif; fill: #3b82d6"
   transform="rotate(-0 3 4)">a</text>
  <text style="font-size: 10px; font-family: 'DejaVu Sans', sans-serif">b</text>
  <text style="font-size: 8px; font-family: 'DejaVu Sans', sans-serif">c</text>
 </g>
</svg>
"""


def test_what_a_picture_repeats_is_said_once():
    head, *lines = pictures.fit(DRAWN).split("\n")
    font = "font-family: 'DejaVu Sans', sans-serif"
    assert f'style="font-size: 10px; {font}" width="9pt"' in head
    assert lines == [
        '<g clip-path="url(#p)">',
        '<path d="M 1.23 2" style="fill: currentColor"/>',
        "</g>",
        '<text style="fill: #3b82d6">a</text>',
        "<text>b</text>",
        f'<text style="font-size: 8px; {font}">c</text>',
        "</svg>",
    ]

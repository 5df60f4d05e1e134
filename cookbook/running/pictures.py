"""What a snippet draws: made fit to stand in a page, and compared with the record."""

import base64
import io
import re

# What a page does not need (ids that nothing refers to, too), or would hold for all.
LEFT_OUT = re.compile(
    r"<\?.*?\?>|<!.*?>|<metadata>.*?</metadata>|<defs>\s*<style.*?</style>\s*</defs>"
    r'| id="[^"]*_\d+"',
    re.DOTALL,
)
FONT = "font-size: 10px; font-family: 'DejaVu Sans', sans-serif"
ROOT = (
    '<svg fill="currentColor" stroke-linejoin="round" stroke-linecap="butt" '
    f'style="{FONT}" '
)
STRAIGHT = re.compile(r' transform="rotate\(-?0 [^"]*"')  # it turns nothing
GROUP = re.compile(r"<g( [^>]*)?>|</g>")
TAG, LONG = re.compile(r"<[^>]+>"), re.compile(r"-?\d+\.\d{3,}(?!\d*e)")
DATA = 'href="data:'
# All that the eye sees. Another Matplotlib may write it with other tags around it.
SHOWN = re.compile(
    r' d="[^"]*"| [xy]="[^"]*"|transform="(?!rotate\(-?0 )[^"]*"'
    r'|(?:fill|stroke): [^;"]+'
    rf'|{DATA}[^"]*"|>[^<>]*[^<>\s][^<>]*<'
)
NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)")
CLOSE = 0.02  # points: machines round the last digit to either side
SAME_COLOUR = 8  # of 255; a step of Matplotlib's steepest colour maps is 4 or 5


def fit(drawn: str) -> str:
    """Matplotlib's SVG for a page: small, and black is the colour of its text."""
    text = LEFT_OUT.sub("", drawn)
    text = TAG.sub(_shortened, text).replace("#000000", "currentColor")
    text = text.replace(f"{FONT}; ", "").replace(f' style="{FONT}"', "")
    text = _without_groups(STRAIGHT.sub("", text))
    text = re.sub(r">\s+<", ">\n<", text).strip()
    return text.replace("<svg ", ROOT, 1)


def _without_groups(text: str) -> str:
    """The text without the groups that say nothing about what they hold."""
    kept = []  # of each group that is open, whether it says something

    def tag(found: re.Match) -> str:
        if found[0] == "</g>":
            return found[0] if kept.pop() else ""
        kept.append(bool(found[1]))
        return found[0] if found[1] else ""

    return GROUP.sub(tag, text)


def _shortened(tag: re.Match) -> str:
    """A tag on one line, its numbers to a hundredth of a point."""
    text = re.sub(r"\s*\n\s*", "" if DATA in tag[0] else " ", tag[0])
    return LONG.sub(lambda m: f"{float(m[0]):.2f}".rstrip("0").rstrip("."), text)


def matches(recorded: str, drawn: str) -> bool:
    """Whether two pictures show the same, but for how machines round."""
    one, other = SHOWN.findall(recorded), SHOWN.findall(drawn)
    return len(one) == len(other) and all(map(_close, one, other))


def _close(one: str, other: str) -> bool:
    """Whether a part is the same: words and colours exactly, places nearly."""
    if one == other or one.startswith(">"):
        return one == other
    if one.startswith(DATA):
        return _same_pixels(one, other)
    parts, others = NUMBER.split(one), NUMBER.split(other)  # every other is a number
    pairs = zip(parts[1::2], others[1::2], strict=False)
    return parts[::2] == others[::2] and all(
        abs(float(a) - float(b)) <= CLOSE for a, b in pairs
    )


def _same_pixels(*pictures: str) -> bool:
    from PIL import Image, ImageChops  # few pictures have any

    data = (base64.b64decode(picture.partition(",")[2]) for picture in pictures)
    one, other = (Image.open(io.BytesIO(file)).convert("RGB") for file in data)
    bands = ImageChops.difference(one, other).getextrema()
    return one.size == other.size and max(most for _, most in bands) <= SAME_COLOUR

"""The picture that a shared link shows: a recipe's title and its answer."""

import io
import textwrap

from PIL import Image, ImageDraw, ImageFont

from cookbook.book.catalogue import Recipe

SIZE, MARGIN = (1200, 630), 64  # pixels, as those who show such pictures ask for
BACK, TITLE, CODE, MARK = "#14233a", "#ffffff", "#cfe0ff", "#8fbcff"
LINES, COLUMNS, COLOURS = 8, 72, 32  # of code; of a picture, which so stays light


def card(recipe: Recipe) -> bytes:
    """A PNG of 1200 x 630 in English, whose code is that of both languages."""
    image = Image.new("RGB", SIZE, BACK)
    draw = ImageDraw.Draw(image)
    title = recipe.page_for("en").meta["title"].replace("`", "")
    title = textwrap.shorten(title, 80, placeholder=" …").replace("…", "...")
    head = textwrap.fill(title, 42)
    # Pillow's own font: the one that each machine has. It knows Latin letters alone.
    _write(draw, (MARGIN, 56), head, 52, TITLE)
    code = [line[:COLUMNS] for line in recipe.answer.code.splitlines() if line.strip()]
    _write(draw, (MARGIN, 210), "\n".join(code[:LINES]), 30, CODE)
    _write(draw, (MARGIN, 552), "PyTorch Cookbook", 30, MARK)
    file = io.BytesIO()
    image.quantize(COLOURS).save(file, "PNG")
    return file.getvalue()


def _write(draw, place, text: str, size: int, colour: str) -> None:
    font = ImageFont.load_default(size)
    draw.multiline_text(place, text, font=font, fill=colour, spacing=size // 3)

"""What is done to a page's HTML: Chinese text, tables, code and its lines."""

import itertools
import re
from functools import partial
from pathlib import Path

from cookbook.book.catalogue import Recipe
from cookbook.site.words import WORDS

# Code keeps its lines.
CODE = re.compile(r"(<pre.*?</pre>)", re.DOTALL)
PUNCTUATION = r"\u3000-\u303f\uff00-\uff65\u2014\u2018\u2019\u201c\u201d\u2026"
HAN = r"\u3400-\u9fff"
TAGS = r"(?:</?(?:a|em|strong|span|mark)\b[^>]*>)*"
# Nothing belongs between two Chinese characters, nor beside Chinese punctuation.
BREAK = re.compile(
    rf"(?<=[{PUNCTUATION}])({TAGS})\n"
    rf"|(?<=[{HAN}])({TAGS})\n(?={TAGS}[{HAN}{PUNCTUATION}])"
    rf"|\n(?={TAGS}[{PUNCTUATION}])"
)
# What is to have the colour of the text: names, operators, brackets, spaces.
INERT = re.compile(r'<span class="(?:n\w?|bp|fm|o|ow|p|vm|w|x)">([^<]*)</span>')
# A file on a built page, from its name to the end of its code; its answer.
FILE = re.compile(
    r'(?P<head><div class="language-python highlight"><span class="filename">)'
    r"(?P<name>[\w.]+)(?P<rest></span><pre><span></span><code>)(?P<code>.*?)"
    r"(?=</code>)",
    re.DOTALL,
)
ANSWER = re.compile(
    r'(?P<head><div class="answer">.*?<code>)(?P<code>.*?)(?=</code>)', re.DOTALL
)
TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
HEAD = re.compile(r"<th[^>]*>(.*?)</th>")
CELL = re.compile(r"<td")
CARDS = range(3, 5)  # columns of a table whose rows are cards on a phone
LINE = '<a id="{id}" href="#{id}" tabindex="-1" aria-hidden="true"></a>'


def finished(html: str, recipe: Recipe | None, lang: str | None) -> str:
    """What Markdown and Pygments made of a page, as the site shows it.

    Code is without the spans that colour nothing, which are most of its elements.
    """
    html = INERT.sub(r"\1", joined(html) if lang == "zh" else html)
    html = TABLE.sub(cells_named, html)
    if recipe and recipe.answer.imports:
        html = ANSWER.sub(partial(imports_apart, recipe), html)
    if recipe:  # files are numbered from 1
        numbered = partial(number_lines, recipe, lang, itertools.count(1))
        html = FILE.sub(numbered, html)
    # Code and messages are read out as what they are.
    return html.replace("<code", '<code lang="en"') if lang == "zh" else html


def joined(html: str) -> str:
    """The page without the line breaks that would show as spaces."""
    parts = CODE.split(html)  # the code stands at every second place
    parts[::2] = [BREAK.sub(joint, part) for part in parts[::2]]
    return "".join(parts)


def joint(gap: re.Match) -> str:
    """The tags around a line break, without it."""
    return gap[1] or gap[2] or ""


def imports_apart(recipe: Recipe, answer: re.Match) -> str:
    """The answer with its imports in an element of their own."""
    count = recipe.answer.imports.count("\n") + 2  # and the empty line below them
    lines = answer["code"].splitlines(True)
    imports, rest = "".join(lines[:count]), "".join(lines[count:])
    return f'{answer["head"]}<span class="imports">{imports}</span>{rest}'


def cells_named(table: re.Match) -> str:
    """A table whose cells say the name of their column, for rows that become cards."""
    html = table[0].replace("\\|", "|")  # Markdown leaves it as it is in code
    names = [re.sub("<.*?>", "", name) for name in HEAD.findall(html)]
    names = [name.replace('"', "&quot;") for name in names]
    if len(names) not in CARDS:
        return html
    column = itertools.cycle(names)
    return CELL.sub(lambda cell: f'<td data-column="{next(column)}"', html)


def number_lines(
    recipe: Recipe, lang: str, files: itertools.count, match: re.Match
) -> str:
    """A file with a link to each of its lines, and one to download it.

    Lines are #line-1 and so on; those of a second file #line-2-1. What they show is
    not part of the code: Copy leaves it out.
    """
    file, name = next(files), match["name"]
    prefix = "line" if file == 1 else f"line-{file}"
    lines = "".join(
        LINE.format(id=f"{prefix}-{number}") + line
        for number, line in enumerate(match["code"].splitlines(True), start=1)
    )
    paths = {Path(block.path).name: block.path for block in recipe.snippets}
    title = WORDS[lang]["download"]
    link = f'<a download href="../../../{paths[name]}" title="{title}">{name}</a>'
    return f"{match['head']}{link}{match['rest']}{lines}"

"""How Chinese text is set: line breaks that are no spaces, and English in it."""

import re
from collections.abc import Callable
from functools import partial

# Code keeps its lines, and its language.
CODE = re.compile(r"(<pre.*?</pre>|<script.*?</script>)", re.DOTALL)
PUNCTUATION = r"\u3000-\u303f\uff00-\uff65\u2014\u2018\u2019\u201c\u201d\u2026"
HAN = r"\u3400-\u9fff"
TAGS = r"(?:</?(?:a|em|strong|span|mark)\b[^>]*>)*"
# Nothing belongs between two Chinese characters, nor beside Chinese punctuation.
BREAK = re.compile(
    rf"(?<=[{PUNCTUATION}])({TAGS})\n"
    rf"|(?<=[{HAN}])({TAGS})\n(?={TAGS}[{HAN}{PUNCTUATION}])"
    rf"|\n(?={TAGS}[{PUNCTUATION}])"
)

# An element, or a heading with its anchor, of English words only: a title, a message.
# A single name in code is no word of a language.
ENGLISH = re.compile(
    r"<(?P<name>code(?=[^>]*>[^<]* )|a|h[1-6]|li|p|span|strong|td)\b"
    r"(?P<rest>(?![^>]*(?:\blang=|headerlink))[^>]*)>"
    rf"(?=[^<>{HAN}{PUNCTUATION}]*[A-Za-z]{{3}}[^<>{HAN}{PUNCTUATION}]*"
    r'(?:</(?P=name)>|<a class="headerlink))'
)
BLOCK = "<pre><span></span><code"  # what Pygments begins one with


def joined(html: str) -> str:
    """The page without the line breaks that would show as spaces."""
    joint = partial(BREAK.sub, lambda match: match[1] or match[2] or "")
    return outside_code(html, joint)


def english_marked(html: str) -> str:
    """The page with a language on what is English in it: it is read out as such."""
    marked = partial(ENGLISH.sub, r'<\g<name> lang="en"\g<rest>>')
    return outside_code(html.replace(BLOCK, f'{BLOCK} lang="en"'), marked)


def outside_code(html: str, change: Callable[[str], str]) -> str:
    parts = CODE.split(html)  # the code stands at every second place
    parts[::2] = map(change, parts[::2])
    return "".join(parts)

"""How Chinese text is set: a line break in the source is no space."""

import re

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


def joined(html: str) -> str:
    """The page without the line breaks that would show as spaces."""
    parts = CODE.split(html)
    parts[::2] = [BREAK.sub(lambda m: m[1] or m[2] or "", part) for part in parts[::2]]
    return "".join(parts)

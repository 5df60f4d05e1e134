"""How Chinese text is set: line breaks that are no spaces, and English in it."""

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

# An element, or a heading with its anchor, of English words only: a title, a message.
# A single name in code is no word of a language.
ENGLISH = re.compile(
    r"<(?P<name>code(?=[^>]*>[^<]* )|a|h[1-6]|li|p|span|strong|td)\b"
    r"(?P<rest>(?![^>]*(?:\blang=|headerlink))[^>]*)>"
    rf"(?=[^<>{HAN}{PUNCTUATION}]*[A-Za-z]{{3}}[^<>{HAN}{PUNCTUATION}]*"
    r'(?:</(?P=name)>|<a class="headerlink))'
)
BLOCK = "<pre><span></span><code"  # what Pygments begins one with
SILENT = re.compile(r"(<pre.*?</pre>|<script.*?</script>)", re.DOTALL)


def joined(html: str) -> str:
    """The page without the line breaks that would show as spaces."""
    parts = CODE.split(html)
    parts[::2] = [BREAK.sub(lambda m: m[1] or m[2] or "", part) for part in parts[::2]]
    return "".join(parts)


def english_marked(html: str) -> str:
    """The page with a language on what is English in it: it is read out as such."""
    html = html.replace(BLOCK, f'{BLOCK} lang="en"')
    parts = SILENT.split(html)  # what is silent stands at every second place
    parts[::2] = [ENGLISH.sub(r'<\g<name> lang="en"\g<rest>>', p) for p in parts[::2]]
    return "".join(parts)

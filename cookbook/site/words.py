"""Every string that the site shows of its own: words.toml, by language and name."""

import tomllib
from pathlib import Path

from cookbook.book.pages import LANGUAGES

_DATA = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
WORDS = {
    lang: {name: texts[lang] for name, texts in _DATA.items()} for lang in LANGUAGES
}

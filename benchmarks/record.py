"""A MkDocs hook that runs after ours: writes plain Material's pages and settings.

What plain Material builds is, page by page, the Markdown that our hooks end up
with, and the navigation that they derive.
"""

import json
from pathlib import Path

PLAIN = "plain"  # the folder below the checkout
THEME = "plain-theme"


def settings_file(lang: str) -> str:
    """The settings of plain Material's build of a language."""
    return f"mkdocs.plain.{lang}.yml"


def on_page_markdown(markdown, page, config, files):
    """Write the page as it stands now."""
    lang, root = config.extra.get("lang"), Path(config.config_file_path).parent
    if lang:
        # Our hooks keep pages out of Material's search index, which is not plain.
        meta = {key: value for key, value in page.meta.items() if key != "search"}
        front = as_json(meta)  # JSON is YAML
        text = "\n".join(["---", front, "---", markdown])
        write(root / PLAIN / lang / page.file.src_uri, text)


def on_post_build(config):
    """Write the settings; the navigation is known by now."""
    lang, root = config.extra.get("lang"), Path(config.config_file_path).parent
    if lang:
        settings = {
            "INHERIT": f"mkdocs.{lang}.yml",
            "docs_dir": f"{PLAIN}/{lang}",
            "site_dir": f"{PLAIN}/site/{lang}",
            "hooks": [],
            "theme": {"custom_dir": THEME},
            "nav": config.nav,
        }
        write(root / settings_file(lang), as_json(settings))


def as_json(value: dict) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def write(file: Path, text: str) -> None:
    """Write a file, and the folders it lies in."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")

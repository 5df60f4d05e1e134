"""Edit the list of recipes in docs/categories.yml, and leave the rest as it stands."""

import re


def add(text: str, category: str, slug: str) -> str:
    """List a recipe last in its category, where the category's text ends."""
    own = re.search(rf"^- slug: {category}\n(?:(?!- ).*\n)*", text, re.MULTILINE)
    head = "" if "\n  groups:" in own[0] else "  groups:\n  - recipes:\n"
    end = own.start() + len(own[0].rstrip("\n")) + 1
    return f"{text[:end]}{head}    - {slug}\n{text[end:]}"


def line(text: str, slug: str) -> int:
    """The line on which a recipe is listed."""
    return text.split("\n").index(f"    - {slug}") + 1

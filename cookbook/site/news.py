"""What is new, by day: recipes added, files changed, releases run; and its feed.

Days come from git's history and from the records. Where there is no whole history (a
shallow clone, an archive) the records alone speak.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from cookbook.book.catalogue import Catalogue, Recipe
from cookbook.book.records import Record, git
from cookbook.site.words import WORDS

FEED = "feed.xml"
SHOWN = 100  # recipes; the days before are left out
MASS = 10  # files: a commit that changes more of them tells nothing of each
ATOM = """<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="{tag}">
<title>{title}</title>
<id>{site}new/</id>
<link href="{site}new/"/>
<link rel="self" href="{site}{feed}"/>
<updated>{updated}T00:00:00Z</updated>
<author><name>{title}</name></author>
{entries}
</feed>
"""
ENTRY = """<entry>
<title>{date}: {summary}</title>
<id>{site}new/#day-{date}</id>
<link href="{site}new/#day-{date}"/>
<updated>{date}T00:00:00Z</updated>
<content type="html">{content}</content>
</entry>"""


@dataclass
class Day:
    """What came on a day; a recipe that was added on it is not said to have changed."""

    date: str
    added: list[Recipe] = field(default_factory=list)
    changed: list[Recipe] = field(default_factory=list)
    run: list[Record] = field(default_factory=list)


def days(catalogue: Catalogue) -> list[Day]:
    """The last days, newest first; a recipe's last change counts."""
    found: dict[str, Day] = {}

    def on(date: str) -> Day:
        return found.setdefault(date, Day(date))

    for record in catalogue.records:
        on(record.date).run.append(record)
    added, changed = _history(catalogue.root)
    for recipe in catalogue.recipes:
        files = {block.path for block in recipe.snippets}
        first = added.get(recipe.slug)
        last = max((changed[file] for file in files & changed.keys()), default="")
        if first:
            on(first).added.append(recipe)
        if first and last > first:
            on(last).changed.append(recipe)
    return list(_last(sorted(found.values(), key=lambda day: day.date, reverse=True)))


def _last(found: list[Day]) -> Iterator[Day]:
    """Days until enough recipes are told of."""
    shown = 0
    for day in found:
        yield day
        shown += len(day.added) + len(day.changed)
        if shown >= SHOWN:
            return


def _history(root: Path) -> tuple[dict[str, str], dict[str, str]]:
    """When each recipe came, by slug; when each snippet last changed, by path."""
    if git(root, "rev-parse", "--is-shallow-repository") != "false":
        return {}, {}
    added = {
        Path(file).stem: date
        for date, files in _commits(root, "A", "docs/*/*/*.md")
        for file in files
    }
    changed = defaultdict(str)
    for date, files in _commits(root, "M", "snippets/*/*.py"):
        for file in files if len(files) <= MASS else ():
            changed[file] = max(date, changed[file])
    return added, changed


def _commits(root: Path, kind: str, pattern: str) -> Iterator[tuple[str, list[str]]]:
    """Each commit's day and the files that it added or changed, newest first."""
    log = ["log", "--no-renames", "--format=@%cs", "--name-only"]
    for entry in git(root, *log, f"--diff-filter={kind}", "--", pattern).split("@")[1:]:
        date, *files = entry.split()
        yield date, files


def page(catalogue: Catalogue, lang: str) -> str:
    """The Markdown of the page."""
    words = WORDS[lang]
    lines = [f"# {words['news']} {{ #new-and-changed }}", "", words["news_lead"]]
    lines += ["{ .lead }", ""]
    for day in days(catalogue):
        lines += [f"## {day.date} {{ #day-{day.date} }}", ""]
        for name in ("added", "changed"):
            if recipes := getattr(day, name):
                links = (f"[{r.title(lang)}]({r.address}.md)" for r in recipes)
                lines += [f"**{words[f'{name}_on']}**", ""]
                lines += [*(f"- {link}" for link in links), ""]
        if day.run:
            lines += [f"**{words['run_on']}** {_environments(day)}", ""]
    return "\n".join(lines)


def _environments(day: Day) -> str:
    """Where the recipes were run: torch 2.15.0 (CPU)."""
    names = (f"torch {r.torch} ({r.environment['device']})" for r in day.run)
    return ", ".join(dict.fromkeys(names))


def feed(catalogue: Catalogue, lang: str, site: str) -> str:
    """The same as an Atom feed; ``site`` is the whole address of the language."""
    words, found, entries = WORDS[lang], days(catalogue), []
    for day in found:
        recipes = {words["added_on"]: day.added, words["changed_on"]: day.changed}
        told = {name: listed for name, listed in recipes.items() if listed}
        summary = [f"{name} {len(listed)}" for name, listed in told.items()]
        content = [
            f"<p>{name}</p><ul>{''.join(_item(r, lang, site) for r in listed)}</ul>"
            for name, listed in told.items()
        ]
        if day.run:
            content.append(f"<p>{words['run_on']} {escape(_environments(day))}</p>")
            summary.append(words["run_on"])
        entry = {"date": day.date, "site": escape(site)}
        entry |= {"summary": " · ".join(summary), "content": escape("".join(content))}
        entries.append(ENTRY.format_map(entry))
    return ATOM.format(
        tag=words["tag"],
        title=words["title"],
        site=escape(site),
        feed=FEED,
        updated=found[0].date if found else "1970-01-01",
        entries="\n".join(entries),
    )


def _item(recipe: Recipe, lang: str, site: str) -> str:
    address = f"{site}{recipe.address}/"
    return f'<li><a href="{escape(address)}">{escape(recipe.title(lang))}</a></li>'

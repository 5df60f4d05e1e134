"""``python -m cookbook new``: start a recipe from the templates.

What is written passes every check but one: lines with ``TODO:`` are left, and say
what belongs there. The code already runs, and its test passes.
"""

import difflib
import json
import keyword
import re
from dataclasses import dataclass
from pathlib import Path
from string import Template

from cookbook import retired
from cookbook.catalogue import Catalogue

TEMPLATES = Path(__file__).parent / "templates"
SLUG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")  # a Python name, but for the -
TODO = re.compile(r"TODO: [^\"]*")
LONGEST = 36  # so that no line of the templates grows too long
FILES = {
    "snippet.py": "snippets/{category}/{name}.py",
    "test.py": "tests/snippets/{category}/test_{name}.py",
    "page.en.md": "docs/en/{category}/{slug}.md",
    "page.zh.md": "docs/zh/{category}/{slug}.md",
}
TITLES = {"en": "TODO: name the task", "zh": "TODO: 写出任务的名称"}
ON_CPU = "torch.tensor([1.0, 2.0])"
ON_GPU = 'torch.tensor([1.0, 2.0], device="cuda")'
GPU_MARK = "<!--pytest.mark.gpu-->\n"


class ScaffoldError(Exception):
    """The recipe can not be started; says why, and what to write instead."""

    def __init__(self, what: str, fix: str):
        super().__init__(f"{what}; {fix}")


@dataclass(frozen=True)
class NewRecipe:
    """What the templates need to know."""

    category: str
    slug: str
    titles: dict[str, str]  # by language
    gpu: bool = False

    @property
    def name(self) -> str:
        """The slug as a Python name."""
        return self.slug.replace("-", "_")

    def files(self) -> dict[Path, str]:
        """The text of each file, by its path in the checkout."""
        facts = {
            "category": self.category,
            "slug": self.slug,
            "name": self.name,
            "tensor": ON_GPU if self.gpu else ON_CPU,
            "mark": GPU_MARK if self.gpu else "",
        }
        for lang, title in self.titles.items():
            facts[f"title_{lang}"] = json.dumps(title, ensure_ascii=False)  # is YAML
        return {
            Path(path.format_map(facts)): template(name).substitute(facts)
            for name, path in FILES.items()
        }


def template(name: str) -> Template:
    file = TEMPLATES / f"{name}.template"
    return Template(file.read_text(encoding="utf-8"))


def create(catalogue: Catalogue, recipe: str, titles: dict, gpu: bool) -> list[Path]:
    """Write the files of ``<category>/<slug>``, all of them or none.

    Raises:
        ScaffoldError: the recipe exists, or its name will not do.
        PageError: the front matter of another page can not be read.
    """
    category, slug = split(recipe)
    refuse_category(catalogue, category)
    refuse_name(slug)
    refuse_taken(catalogue, slug)
    given = {lang: titles.get(lang) or text for lang, text in TITLES.items()}
    files = NewRecipe(category, slug, given, gpu).files()
    for path in files:
        if (catalogue.root / path).exists():
            fix = "choose another slug, or remove the file"
            raise ScaffoldError(f"{path} exists already", fix)
    write(catalogue.root, files)
    return list(files)


def split(recipe: str) -> tuple[str, str]:
    category, slash, slug = recipe.partition("/")
    if not (category and slash and slug) or "/" in slug:
        fix = "write <category>/<slug>, such as training/ema-weights"
        raise ScaffoldError(f"{recipe} names no recipe", fix)
    return category, slug


def refuse_category(catalogue: Catalogue, category: str) -> None:
    known = [each.slug for each in catalogue.categories]
    if category in known:
        return
    close = difflib.get_close_matches(category, known, n=1)
    fix = f"write {close[0]}" if close else f"choose one of {', '.join(known)}"
    raise ScaffoldError(f"unknown category {category}", f"{fix} (docs/categories.yml)")


def refuse_name(slug: str) -> None:
    if not SLUG.fullmatch(slug) or keyword.iskeyword(slug):
        proposal = re.sub(r"[^a-z0-9]+", "-", slug.lower()).strip("-0123456789")
        fix = "write lower-case words joined by -, the first beginning with a letter"
        if proposal and not keyword.iskeyword(proposal):
            fix += f": {proposal}"
        raise ScaffoldError(f"{slug} is no slug", fix)
    if len(slug) > LONGEST:
        what = f"{slug} has {len(slug)} characters"
        raise ScaffoldError(what, f"write a slug of at most {LONGEST}")


def refuse_taken(catalogue: Catalogue, slug: str) -> None:
    for page in catalogue.pages:
        if page.slug == slug:
            fix = "choose another slug, or improve that page"
            raise ScaffoldError(f"{slug} exists already: {page.path}", fix)
        if slug in page.meta.get("covers", []):
            fix = f"remove it from there first (line {page.meta_line('covers')})"
            raise ScaffoldError(f"{slug} is covered by {page.path}", fix)
    if slug in {each.slug for each in retired.load(catalogue.root)}:
        fix = "choose another slug; old links must not lead to another task"
        raise ScaffoldError(f"{slug} was retired, see {retired.FILE}", fix)


def write(root: Path, files: dict[Path, str]) -> None:
    """Write all files; where one can not be written, leave none behind."""
    written = []
    try:
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            with (root / path).open("x", encoding="utf-8") as file:
                written.append(root / path)
                file.write(text)
    except OSError:
        for file in written:
            file.unlink()
        raise


def report(root: Path, paths: list[Path]) -> str:
    """What was written, what to edit, and what to run next."""
    slug = paths[-1].stem
    lines = ["Written, and it runs already:", *(f"  {path}" for path in paths)]
    lines += ["", "Replace what each TODO says:", *todos(root, paths)]
    command = f".venv/bin/python -m cookbook check {slug}"
    lines += ["", "Then run, until all is in order:", f"  {command} --fix"]
    return "\n".join(lines)


def todos(root: Path, paths: list[Path]) -> list[str]:
    """Where each TODO stands, and what it says."""
    return [
        f"  {path}:{number}: {match[0]}"
        for path in paths
        for number, line in enumerate((root / path).read_text("utf-8").split("\n"), 1)
        if (match := TODO.search(line))
    ]

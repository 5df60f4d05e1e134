"""The CPU time of the site's build, beside that of plain Material over the same pages.

Plain Material has the theme, the extensions and the navigation of the site, and its own
search: neither checks nor templates nor scripts of ours.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from mkdocs.config import load_config

from cookbook.book.catalogue import Catalogue
from cookbook.book.pages import LANGUAGES
from cookbook.site import pages

ROOT = Path(__file__).parents[1]
OURS = ("hooks", "custom_dir", "watch", "not_in_nav", "extra", "extra_css", "docs_dir")
BUILD = [sys.executable, "-m", "mkdocs", "build", "--quiet"]


def cpu_seconds(folder: Path, site: Path) -> float:
    """What a build in a folder takes of all processors."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*BUILD, "--site-dir", str(site)], cwd=folder, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def plain(catalogue: Catalogue, lang: str, folder: Path) -> None:
    """Write a language's pages and a configuration without anything of ours."""
    for page in pages.pages(catalogue, lang):
        file = folder / "docs" / page.path
        file.parent.mkdir(parents=True, exist_ok=True)
        meta = {
            key: page.meta[key] for key in ("title", "description") if key in page.meta
        }
        file.write_text(page._replace(meta=meta).text, encoding="utf-8")
    (folder / "docs/index.md").write_text("# Home\n")
    config = load_config(str(ROOT / f"mkdocs.{lang}.yml"))
    settings = {
        "site_name": config.site_name,
        "theme": {
            "name": "material",
            "language": lang,
            "features": config.theme["features"],
            "palette": config.theme["palette"],
            "font": False,
        },
        "plugins": ["search"],
        "markdown_extensions": [
            {name: config.mdx_configs.get(name, {})}
            for name in config.markdown_extensions
            if name != "pymdownx.snippets"
        ],
        "nav": pages.navigation(catalogue, lang),
    }
    (folder / "mkdocs.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        catalogue, alone = Catalogue(ROOT), 0.0
        for lang in LANGUAGES:
            folder = Path(temporary, lang)
            plain(catalogue, lang, folder)
            alone += cpu_seconds(folder, folder / "site")
        ours = cpu_seconds(ROOT, Path(temporary, "site"))
        print(f"{ours:.1f} s, plain Material {alone:.1f} s: {ours / alone:.2f} times")

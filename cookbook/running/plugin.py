"""The pytest plugin: collect every block of every page, run each once.

From pytest-codeblocks it takes the option ``--codeblocks``, the classes of a page and
of a block, and the form of the marks. Its parser knows no ``--8<--``, so blocks are
those of ``cookbook.book``; each runs in a process of its own. ``make check`` compares
them with what the site shows.
"""

import itertools
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_codeblocks.plugin
from pytest_codeblocks.plugin import MarkdownFile, TestBlock

from cookbook.book import records
from cookbook.book.catalogue import Catalogue
from cookbook.book.pages import Block, Page, PageError
from cookbook.book.records import Record
from cookbook.running import judge
from cookbook.running.judge import gpus, gpus_wanted, job_of
from cookbook.running.runner import (
    TIMEOUT,
    Job,
    Result,
    Runner,
    RunnerError,
    shortened,
    usable_cores,
)

PROBE = Job((str(Path(__file__).with_name("probe.py")),))
OPTIONS = {
    "--gpu": "run the blocks marked gpu",
    "--record-output": "write what the snippets print and draw beside them",
    "--save-runs": "write a record of this run to verified/",
    "--fresh": "run each snippet by a new interpreter, as its reader does",
    "--other-torch": "look at what a release makes of the blocks, not at the blocks",
    "--unrecorded": "leave out blocks whose text the record says passed here",
    "--trials": "run snippets with other seeds, too; those for a GPU must fail here",
}
GPU_REASON = "needs a GPU: run make test-gpu"
catalogue_key = pytest.StashKey[Catalogue]()
unreached_key = pytest.StashKey[dict[str, None]]()  # lines of snippets
record_key = pytest.StashKey[Record | None]()
runner_key = pytest.StashKey[Runner]()
jobs_key = pytest.StashKey[dict[Job, list["RecipeBlock"]]]()


def pytest_addoption(parser):
    group = parser.getgroup("cookbook")
    for name, text in OPTIONS.items():
        group.addoption(name, action="store_true", help=text)
    parser.addini("block_timeout", "seconds a block may take", default=str(TIMEOUT))


def pytest_configure(config):
    config.addinivalue_line("markers", "gpu: a block that needs a GPU")
    # Ours collects the same files; two collectors would run everything twice.
    config.pluginmanager.unregister(pytest_codeblocks.plugin)
    if config.getoption("numprocesses", None) and asks_for_blocks(config):
        raise pytest.UsageError(
            "-n: blocks run on every core already, and leave one record; "
            "run pytest docs without -n, and pytest -n auto tests"
        )
    catalogue = Catalogue(config.rootpath)
    config.stash[catalogue_key] = catalogue
    config.stash[jobs_key], config.stash[unreached_key] = {}, {}
    option = config.option
    on_cpu = option.record_output or (option.save_runs and not option.gpu)
    if option.gpu and not gpus():
        raise pytest.UsageError("--gpu: torch finds no GPU on this machine")
    if on_cpu and gpus():
        raise pytest.UsageError(
            "what is recorded is a CPU's: set CUDA_VISIBLE_DEVICES=, or, to save runs "
            "of this machine's GPU, add --gpu"
        )


def asks_for_blocks(config) -> bool:
    """Whether pytest is to look at docs, below it, or around it."""
    docs, folder = config.rootpath / "docs", config.invocation_params.dir
    paths = [folder / argument.partition("::")[0] for argument in config.args]
    return any(p.is_relative_to(docs) or docs.is_relative_to(p) for p in paths)


def pytest_xdist_auto_num_workers() -> int:
    """As many workers for ``-n auto`` as for the blocks."""
    return usable_cores()


def pytest_collect_file(file_path, parent):
    """Collect the recipe pages: docs/<lang>/<category>/<slug>.md."""
    config = parent.config
    if not config.option.codeblocks or file_path.suffix != ".md":
        return None
    if not file_path.is_relative_to(config.rootpath / "docs"):
        return None
    path = file_path.relative_to(config.rootpath)
    pages = config.stash[catalogue_key].pages
    page = next((page for page in pages if page.path == path), None)
    return page and RecipePage.from_parent(parent, path=file_path, page=page)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Leave out what passed here; give pytest-split the pages of a recipe in a row."""
    if config.getoption("splits", None):
        items.sort(key=lambda item: item.path.stem)
    record = recorded(config) if config.option.unrecorded else None
    for item in items if record else ():
        run = isinstance(item, RecipeBlock) and record.run_of(item.obj)
        if run and run["status"] == "passed":
            place = f"on {record.date} (verified/{record.name}.json)"
            item.add_marker(pytest.mark.skip(reason=f"passed here already, {place}"))


def environment(config) -> dict:
    """What a record says of the environment that this run is in."""
    probed = the_runner(config).submit(PROBE).result().stdout
    return records.environment(config.rootpath, probed)


def recorded(config) -> Record | None:
    """The record of this environment; it is looked up once."""
    if record_key not in config.stash:
        name = records.name_of(environment(config))
        known = {record.name: record for record in config.stash[catalogue_key].records}
        config.stash[record_key] = known.get(name)
    return config.stash[record_key]


def pytest_collection_finish(session):
    """Note which items ask for which job, so that all of them can be named."""
    for item in session.items:
        if isinstance(item, RecipeBlock):
            session.config.stash[jobs_key].setdefault(item.job, []).append(item)


def pytest_sessionfinish(session):
    """Write the record of this environment, if asked to."""
    config = session.config
    if not config.option.save_runs or runner_key not in config.stash:
        return
    runner = config.stash[runner_key]
    shown = config.stash[jobs_key].values()
    for item in itertools.chain(*shown):
        if judge.is_warning(item.cause):  # only_warned asks; all run side by side
            runner.submit(item.unwarned)
    blocks = [block_record(judged) for items in shown if (judged := ran(items))]
    if not blocks:
        return
    pages = config.stash[catalogue_key].pages
    known = {b.path for page in pages if page.readable for b in page.blocks}
    file = records.write(config.rootpath, environment(config), blocks, known)
    config.get_terminal_writer().line(f"\nrecorded {len(blocks)} blocks in {file}")


def ran(items: list["RecipeBlock"]) -> list["RecipeBlock"]:
    """The items whose block was run and judged.

    What lacks a package was not run: it fails on this machine, but is no failure. On
    another torch neither is what its time limit ended: the machine may have been busy.
    """
    judged = [item for item in items if item.result and not item.result.missing_package]
    other = any(item.config.option.other_torch for item in judged)
    return [item for item in judged if not (other and item.result.exit is None)]


def block_record(items: list["RecipeBlock"]) -> dict:
    """What a record keeps of one run, judged on each page that shows it."""
    item = next((each for each in items if each.cause), items[0])
    block = {"path": item.obj.path, "sha256": item.obj.sha256}
    block |= {"status": "passed", "cpu_seconds": round(item.result.seconds, 1)}
    if item.cause:
        status = "warned" if item.only_warned() else "failed"
        block |= {"status": status, "cause": item.cause}
    return block


def pytest_terminal_summary(terminalreporter, config):
    for place in config.stash[unreached_key]:
        words = "its run never came to this line; a test must, or remove it"
        terminalreporter.write_line(f"{place}: {words}")


def pytest_unconfigure(config):
    if runner := config.stash.get(runner_key, None):
        runner.__exit__()


class RecipePage(MarkdownFile):
    """A page, and an item for each of its blocks."""

    def __init__(self, page: Page, **kwargs):
        super().__init__(**kwargs)
        self.page = page

    def collect(self):
        try:
            blocks = self.page.blocks
        except PageError as error:
            raise self.CollectError(str(error)) from None
        for line, kind, text in self.page.document.unclear:
            if kind == "block":
                facts = {"text": text.strip().partition("\n")[0]}
                problem = self.page.problem(line, "block-not-plain", **facts)
                raise self.CollectError(str(problem))
        for block in blocks:
            name = block.snippet.name if block.snippet else f"line {block.line}"
            item = RecipeBlock.from_parent(self, name=name, obj=block)
            add_mark(item, block)
            yield item


def add_mark(item: "RecipeBlock", block: Block) -> None:
    """Translate the page's mark into pytest's."""
    option = item.config.option
    if block.mark == "gpu":
        item.add_marker(pytest.mark.gpu)
        if not option.gpu and not (option.trials and block.snippet):
            item.add_marker(pytest.mark.skip(reason=GPU_REASON))
    elif block.mark == "skip":
        item.add_marker(pytest.mark.skip(reason=block.reason))
    elif option.gpu and (wanted := gpus_wanted(block)) > gpus():
        item.add_marker(pytest.mark.skip(reason=f"needs {wanted} GPUs"))


class RecipeBlock(TestBlock):
    """A block on a page; pages that show the same block share its run."""

    def __init__(self, name, parent, obj):
        super().__init__(name, parent, obj)
        self.job = job_of(obj, parent.page)
        self.result: Result | None = None
        self.cause = ""  # of its failure

    def runtest(self):
        config, page = self.config, self.parent.page
        result = submit_all(config)[self.job].result()
        if self.obj.mark == "gpu" and not config.option.gpu:  # a trial
            if not result.problem:
                line = self.obj.line - 1
                raise BlockFailedError(page.problem(line, "gpu-mark-unearned"))
            raise pytest.skip.Exception(GPU_REASON, _use_item_location=True)
        self.result = result
        if config.option.record_output:
            judge.record(self.obj, page.root, result)
        catalogue = config.stash[catalogue_key]
        fault = judge.fault(catalogue, page, self.obj, result, config.option.gpu)
        if config.option.trials and not fault:
            runner = config.stash[runner_key]
            fault = judge.fault_of_other_seeds(self.obj, result, runner)
            if self.obj.snippet and (line := judge.never_reached(self.obj, result)):
                place = f"{self.obj.snippet}:{line}"
                config.stash[unreached_key][place] = None
        if fault:
            self.cause = judge.cause(fault, result)
            if config.option.other_torch and self.fails_as_recorded():
                pytest.xfail(f"recorded already: {self.cause}")
            raise BlockFailedError(judge.with_cause(fault, self.cause))
        self.add_report_section("call", "stdout", shortened(result.stdout))
        self.add_report_section("call", "stderr", shortened(result.stderr))

    def fails_as_recorded(self) -> bool:
        """Whether the record tells this failure of this text already."""
        record = recorded(self.config)
        run = record and record.run_of(self.obj)
        return bool(run) and run.get("cause") == self.cause

    @property
    def unwarned(self) -> Job:
        """The same job, which no warning ends."""
        return replace(self.job, warnings="default")

    def only_warned(self) -> bool:
        """Whether nothing but a warning ended it: where that is none, it passes."""
        if not judge.is_warning(self.cause):
            return False
        config, page = self.config, self.parent.page
        result = config.stash[runner_key].submit(self.unwarned).result()
        catalogue = config.stash[catalogue_key]
        return not judge.fault(catalogue, page, self.obj, result, config.option.gpu)

    def repr_failure(self, excinfo):
        if excinfo.errisinstance((BlockFailedError, RunnerError)):
            return str(excinfo.value)
        return super(TestBlock, self).repr_failure(excinfo)

    def reportinfo(self):
        return self.path, self.obj.line - 1, f"{self.parent.page.path}: {self.name}"


class BlockFailedError(Exception):
    """A block did not do what its page says."""


def the_runner(config) -> Runner:
    """What runs the blocks; it is started on the first demand."""
    if runner_key not in config.stash:
        config.stash[runner_key] = Runner(
            timeout=float(config.getini("block_timeout")),
            fresh=config.option.fresh,
            other_torch=config.option.other_torch,
        )
    return config.stash[runner_key]


def submit_all(config) -> dict:
    """Start every selected job, so that they run side by side."""
    runner = the_runner(config)
    for job, items in config.stash[jobs_key].items():
        if not all(item.get_closest_marker("skip") for item in items):
            runner.submit(job)
    return runner.futures

"""The wheel as it is used: installed, by its commands, over MCP by the SDK's client."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tarfile
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from cookbook.book.catalogue import Catalogue
from cookbook.site import wheel
from tests.helpers import ROOT, made_once

MOST = 1_500_000  # bytes without the site
RIGHT, FALSELY = 0.85, 0.05  # of posted tracebacks


@pytest.fixture(scope="session")
def installed(tmp_path_factory) -> Path:
    """A folder with the package in it, which has a small site."""
    return made_once("wheel", install, tmp_path_factory) / "packages"


def install(folder: Path) -> None:
    site = folder / "site"
    site.mkdir()
    (site / "index.html").write_text("the site")
    wheel.build(Catalogue(ROOT), site, folder / "dist")
    (built,) = (folder / "dist").iterdir()
    assert built.stat().st_size < MOST
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", folder / "packages", built], check=True)


@pytest.fixture
def run(installed, tmp_path):
    """Run a command as somebody without the repository does; by its parts."""

    def run(*arguments: str, given: str = "") -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, "-m", "pytorch_cookbook", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(installed)},
            input=given,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


@pytest.fixture(scope="module")
def explained(installed):
    """The line and the slug that the package finds for each of some logs."""
    code = """
import json, sys
from pytorch_cookbook import book, explain
found = [explain.explain(log, "en") for log in json.load(sys.stdin)]
print(json.dumps([(line, row and row["slug"]) for line, row in found]))
"""

    def explained(logs: list[str]) -> list[tuple[str, str]]:
        command = [sys.executable, "-c", code]
        env = {**os.environ, "PYTHONPATH": str(installed)}
        given = json.dumps(logs)
        return json.loads(
            subprocess.check_output(command, env=env, input=given, text=True)
        )

    return explained


@pytest.mark.parametrize(
    ("query", "slug"),
    [("爆显存", "oom-checklist"), ("label smoothing", "label-smoothing")],
)
def test_find_gives_a_line_for_each_recipe(run, query, slug):
    lines = run("find", query).stdout.splitlines()
    assert lines[0].startswith(f"{slug} — ")
    assert all(" — " in line for line in lines)


def test_show_gives_the_answer_its_page_and_its_file(run):
    recipe = Catalogue(ROOT).by_slug["label-smoothing"]
    (first, *_) = recipe.snippets
    answer = run("show", "label-smoothing").stdout
    assert recipe.answer.text in answer
    assert first.sha256[:8] in answer
    assert run("show", "label-smoothing", "--file").stdout.startswith(first.code)
    page = run("show", "label-smoothing", "--page", "--lang", "zh").stdout
    assert page.startswith(f"# {recipe.title('zh')}\n")
    assert first.code in page


def test_what_a_torch_lacks_comes_first(run):
    muon = run("show", "muon", "--torch", "2.4.0").stdout
    assert muon.startswith("# on torch 2.4.1 this fails: AttributeError")
    unknown = run("show", "muon", "--torch", "1.0.0").stdout
    assert unknown.startswith("# not run on torch 1.0.0")


def test_tracebacks_as_people_posted_them_lead_to_their_page(explained):
    """In short; gathered from issues of other projects, in their words."""
    lines = Path(__file__).with_name("posted.jsonl").read_text("utf-8").splitlines()
    posted = list(map(json.loads, lines))
    found = explained([one["log"] for one in posted])
    answers = [
        (slug, one["wants"]) for (_, slug), one in zip(found, posted, strict=True)
    ]
    right = [slug in wants for slug, wants in answers if wants]
    falsely = [bool(slug) for slug, wants in answers if not wants]
    print(f"\n{sum(right)} of {len(right)}; falsely {sum(falsely)} of {len(falsely)}")
    assert sum(right) >= RIGHT * len(right)
    assert sum(falsely) <= FALSELY * len(posted)


def test_pasted_messages_lead_to_their_page(explained):
    file = ROOT / "tests/search/pasted.jsonl"
    pasted = list(map(json.loads, file.read_text("utf-8").splitlines()))
    found = explained([one["q"] for one in pasted])
    right = [slug in one["wants"] for (_, slug), one in zip(found, pasted, strict=True)]
    assert sum(right) >= RIGHT * len(right)


OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
SHAPES = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x4 and 5x2)"
FORMS = {
    "coloured": (
        "\x1b[31mTraceback (most recent call last):\x1b[0m\n\x1b[1m" + OOM,
        OOM,
    ),
    "the cause before": (
        f"{SHAPES}\n\nThe above exception was the direct cause of the following "
        "exception:\n\nTraceback (most recent call last):\nValueError: step 3 failed",
        SHAPES,
    ),
    "what came while handling": (
        f"KeyError: 'x'\n\nDuring handling of the above exception, another exception "
        f"occurred:\n\nTraceback (most recent call last):\n{SHAPES}",
        SHAPES,
    ),
    "of ranks": (
        f"[rank1]: Traceback (most recent call last):\n[rank1]: {OOM}\n"
        "[rank0]: RuntimeError: Connection closed by peer [127.0.0.1]:29500\n"
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \nx FAILED",
        OOM,
    ),
    "of a worker": (
        "RuntimeError: Caught RuntimeError in DataLoader worker process 0.\n"
        f'Original Traceback (most recent call last):\n  File "a.py", line 1\n{SHAPES}',
        SHAPES,
    ),
    "of a notebook": (
        f"RuntimeError          Traceback (most recent call last)\nCell In[3], line 1\n"
        f"----> 1 model(x)\n\n{SHAPES}",
        SHAPES,
    ),
    "of pytest": (
        f"    def test():\n>       model(x)\nE       {SHAPES}\n\na.py:3",
        SHAPES,
    ),
    "of Lightning, with a bar": (
        f"Epoch 0:  12%|█▏  | 3/25 [00:01]\n{SHAPES}\n",
        SHAPES,
    ),
    "cut off at the front": (f"line 12, in forward\n    x @ y\n{SHAPES}", SHAPES),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_line_that_counts(explained, form):
    log, line = FORMS[form]
    ((found, slug),) = explained([log])
    assert found == line
    assert slug in ("oom-checklist", "err-matmul-shape")


def test_explain_shows_the_row_the_causes_and_the_answer(run):
    said = run("explain", given=SHAPES).stdout
    recipe = Catalogue(ROOT).by_slug["err-matmul-shape"]
    _, last = recipe.pages["en"].causes
    assert recipe.pages["en"].body.split("\n")[last - 1] in said
    assert recipe.answer.text in said
    assert run("explain", SHAPES).stdout == said
    unknown = run("explain", given="ValueError: the moon is full on Friday").stdout
    assert "not quoted anywhere" in unknown


@pytest.mark.parametrize(
    ("arguments", "given", "says"),
    [
        (["explain"], "", "no error in this text"),
        (["explain"], "\n" * 1000, "no error in this text"),
        (["show", "lable-smoothing"], "", "did you mean label-smoothing"),
        (["show", "muon", "--lang", "fr"], "", "take en or zh"),
        (["show", "muon", "--torch", "new"], "", "no release of torch"),
        (["find", "zzzz qqqq"], "", "no recipe for this"),
    ],
)
def test_bad_input_is_named_on_stderr_only(run, arguments, given, says):
    result = run(*arguments, given=given)
    assert result.returncode == 2
    assert result.stdout == ""
    assert says in result.stderr
    assert "Traceback" not in result.stderr


def test_a_long_log_is_read_to_its_end(run):
    log = 'epoch 3 loss 0.12 lr 1e-3\n  File "x.py", line 3\n' * 100_000 + SHAPES
    assert run("explain", given=log).stdout.startswith(SHAPES)


def test_a_broken_index_says_how_to_mend_it(run, installed, tmp_path):
    copy = tmp_path / "pytorch_cookbook"  # where run looks first
    shutil.copytree(installed / "pytorch_cookbook", copy)
    file = copy / "data/recipes.xz"
    file.write_bytes(file.read_bytes()[:100])
    result = run("find", "label smoothing")
    assert result.returncode == 2
    assert result.stdout == ""
    assert str(file) in result.stderr
    assert "pip install --force-reinstall pytorch-cookbook" in result.stderr


def test_the_site_is_unpacked_and_served(installed, tmp_path):
    command = [sys.executable, "-m", "pytorch_cookbook", "serve", "--port", "0"]
    env = {**os.environ, "PYTHONPATH": str(installed)}
    with subprocess.Popen(
        command, env=env, cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            address = server.stdout.readline().strip()
            assert urllib.request.urlopen(address).read() == b"the site"
        finally:
            server.terminate()


def over_mcp(installed: Path, ask) -> list:
    """What a server says to some questions of the SDK's client."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "pytorch_cookbook", "mcp"],
        env={"PYTHONPATH": str(installed)},
    )

    async def talk():
        async with Client(stdio_client(parameters)) as client:
            return await ask(client)

    # In a thread of its own: Playwright's loop, where one is open, holds this one.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, asyncio.wait_for(talk(), 60)).result()


def test_an_assistant_finds_reads_and_explains(installed):
    async def ask(client):
        tools = [tool.name for tool in (await client.list_tools()).tools]
        call = partial(client.call_tool)
        return (
            tools,
            [
                await call("search", {"query": "爆显存"}),
                await call(
                    "get_recipe", {"slug": "label-smoothing", "torch": "2.15.0"}
                ),
                await call("explain_error", {"traceback": SHAPES}),
                await call("get_recipe", {"slug": "no-such"}),
            ],
            await client.read_resource("recipe://zh/label-smoothing"),
            (await client.get_prompt("adapt", {"slug": "muon", "code": "step()"})),
        )

    tools, answers, resource, prompt = over_mcp(installed, ask)
    assert tools == ["search", "get_recipe", "explain_error"]
    search, recipe, error, unknown = ((a.is_error, a.content[0].text) for a in answers)
    assert search[1].startswith("oom-checklist — ")
    assert "nn.CrossEntropyLoss(label_smoothing=0.1)" in recipe[1]
    assert error[1].startswith(SHAPES)
    assert [one[0] for one in (search, recipe, error)] == [False] * 3
    assert unknown[0]
    assert "there is no recipe 'no-such'" in unknown[1]
    assert "label_smoothing" in resource.contents[0].text
    assert "torch.optim.Muon" in prompt.messages[0].content.text


def test_questions_that_come_at_once_are_all_answered(installed):
    queries = ("爆显存", "label smoothing") * 20

    async def ask(client):
        calls = (client.call_tool("search", {"query": query}) for query in queries)
        return await asyncio.gather(*calls)

    answers = [answer.content[0].text for answer in over_mcp(installed, ask)]
    firsts = [text.partition(" — ")[0] for text in answers]
    assert firsts == ["oom-checklist", "label-smoothing"] * 20


def test_the_packed_site_is_the_one_given(installed):
    with tarfile.open(installed / "pytorch_cookbook/data/site.tar.xz") as packed:
        assert packed.extractfile("./index.html").read() == b"the site"

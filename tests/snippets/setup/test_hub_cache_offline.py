"""hub-cache-offline: the cache's folders by hand, and a network that refuses."""

import http.client
import os
import socket
import ssl
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
import torch
from torchvision import models

from tests.helpers import load_snippet, raises_as_documented, recipes

SNIPPET, PAGE = "setup/hub_cache_offline.py", "setup/hub-cache-offline"
URL = "https://download.pytorch.org/models/resnet18-f37072fd.pth"


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """Whoever asks for a name gets the error of a machine without network."""

    def refuse(*args, **kwargs):
        raise socket.gaierror(-3, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(urllib.request, "getproxies", dict)
    monkeypatch.setattr(urllib.request, "_opener", None)


def test_the_carried_file_is_found_by_its_name(monkeypatch, capsys):
    monkeypatch.setenv("TORCH_HOME", "elsewhere")
    snippet = load_snippet(SNIPPET)
    assert snippet.file == snippet.folder / "resnet18-f37072fd.pth"
    assert capsys.readouterr().out == f"{URL}\nbelongs to {snippet.file}\n"
    assert [file.name for file in snippet.folder.iterdir()] == [snippet.file.name]
    for name, tensor in snippet.model.state_dict().items():
        assert torch.equal(tensor, snippet.carried[name])


def test_before_the_file_is_there_the_answer_says_where_it_belongs(
    monkeypatch, tmp_path, capsys
):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    answer = recipes()["hub-cache-offline"].answer
    assert answer.yours == {}
    names = {}
    with raises_as_documented(PAGE, "URLError: <urlopen error"):
        exec(answer.text, names)
    said = capsys.readouterr().out.splitlines()[:2]
    place = tmp_path / "hub/checkpoints/resnet18-f37072fd.pth"
    assert said == [URL, f"belongs to {place}"]
    torch.save(models.resnet18().state_dict(), place)  # the folder is there by now
    exec(answer.text, names)
    assert not names["model"].fc.weight.is_meta


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"TORCH_HOME": "/data/torch"}, "/data/torch/hub"),
        ({"XDG_CACHE_HOME": "/data/cache"}, "/data/cache/torch/hub"),
        ({}, "~/.cache/torch/hub"),
    ],
)
def test_where_torch_looks(monkeypatch, variables, folder):
    for name in ("TORCH_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(torch.hub, "_hub_dir", None)
    assert Path(torch.hub.get_dir()) == Path(folder).expanduser()


def test_without_the_file_it_asks_the_network(monkeypatch, tmp_path):
    with raises_as_documented(PAGE, "URLError: <urlopen error"):
        torch.hub.load_state_dict_from_url(URL, tmp_path, weights_only=True)


def test_a_certificate_that_nobody_here_has_signed(monkeypatch, tmp_path):
    """The handshake finds it out; urllib passes it on as an error of its own."""

    def refuse(self):
        text = "certificate verify failed: unable to get local issuer certificate"
        raise ssl.SSLCertVerificationError(
            1, f"[SSL: CERTIFICATE_VERIFY_FAILED] {text}"
        )

    monkeypatch.setattr(http.client.HTTPSConnection, "connect", refuse)
    with raises_as_documented(PAGE, "URLError: <urlopen error [SSL: CERT"):
        torch.hub.load_state_dict_from_url(URL, tmp_path, weights_only=True)


def test_the_variable_names_the_certificates(monkeypatch):
    certifi = pytest.importorskip("certifi")
    shown = [sys.executable, "-m", "certifi"]
    where = subprocess.check_output(shown, text=True).strip()
    assert where == certifi.where()
    monkeypatch.setenv("SSL_CERT_FILE", where)
    assert ssl.get_default_verify_paths().cafile == where


def test_a_broken_file_is_told_by_its_hash(tmp_path):
    broken = tmp_path / "resnet18-f37072fd.pth"
    broken.write_bytes(b"half of it")
    with raises_as_documented(PAGE, "RuntimeError: invalid hash value"):
        torch.hub.load_state_dict_from_url(
            broken.as_uri(), tmp_path / "to", check_hash=True, progress=False
        )


def test_a_cloned_repository_loads_without_network(monkeypatch, tmp_path):
    """Its own download finds the carried file by its name, as torchvision's does."""
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "cache"))
    checkpoints = tmp_path / "cache/hub/checkpoints"
    checkpoints.mkdir(parents=True)
    torch.save({"w": torch.ones(2)}, checkpoints / "net.pth")
    clone = tmp_path / "repo"
    clone.mkdir()
    (clone / "hubconf.py").write_text(
        "from torch.hub import load_state_dict_from_url as load\n"
        "def net():\n    return load('https://example.com/net.pth')\n"
    )
    assert torch.hub.load(str(clone), "net", source="local")["w"].tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="the repo could not be found in the cache"):
        torch.hub.load("owner/repo", "net", trust_repo=True)


def test_the_variables_of_the_hub_are_read_at_import():
    hub = pytest.importorskip("huggingface_hub")
    assert hub
    show = (
        "from huggingface_hub import constants as c\n"
        "print(c.ENDPOINT, c.HF_HUB_CACHE, c.HF_HUB_OFFLINE, c.HF_HUB_DISABLE_XET)\n"
    )
    variables = {
        "HF_ENDPOINT": "https://hf-mirror.com",
        "HF_HOME": "/data/hf",
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_XET": "1",
    }
    for lang in ("en", "zh"):
        page = (Path(__file__).parents[3] / f"docs/{lang}/{PAGE}.md").read_text("utf-8")
        for name, value in variables.items():
            assert f"{name}={value}" in page
    kept = {k: v for k, v in os.environ.items() if not k.startswith("HF_")}
    child = subprocess.run(
        [sys.executable, "-c", show],
        capture_output=True,
        text=True,
        env=kept | variables,
    )
    mirror, cache, *switches = child.stdout.split()
    assert (mirror, cache) == ("https://hf-mirror.com", "/data/hf/hub")
    assert switches == ["True"] * 2


def test_a_model_that_is_not_in_the_cache(tmp_path):
    hub = pytest.importorskip("transformers.utils")
    where = {"cache_dir": tmp_path, "local_files_only": True}
    with raises_as_documented(PAGE, "OSError: We couldn't connect"):
        hub.cached_file("owner/name", "config.json", **where)


def test_a_gated_model_and_one_that_is_not_there():
    hub = pytest.importorskip("huggingface_hub.utils")
    httpx2 = pytest.importorskip("httpx2")

    def answered(code):
        request = httpx2.Request("GET", "https://huggingface.co/owner/name")
        headers = {"X-Error-Code": code}
        return httpx2.Response(401, headers=headers, json={}, request=request)

    with raises_as_documented(PAGE, "GatedRepoError: ") as caught:
        hub.hf_raise_for_status(answered("GatedRepo"))
    assert "Cannot access gated repo" in str(caught.value)
    with pytest.raises(hub.RepositoryNotFoundError, match="401 Client") as caught:
        hub.hf_raise_for_status(answered("RepoNotFound"))
    assert "Repository Not Found" in str(caught.value)

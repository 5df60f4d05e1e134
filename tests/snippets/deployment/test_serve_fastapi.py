"""serve-fastapi: labels against NumPy, requests at once, and bad requests."""

import runpy
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Annotated

import numpy as np
import pytest
import torch
from anyio import to_thread
from fastapi import Body, FastAPI, UploadFile
from fastapi.testclient import TestClient

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "deployment/serve-fastapi"
ROW = [5.1, 3.5, 1.4, 0.2]


@pytest.fixture(scope="module")
def snippet():
    return load_snippet("deployment/serve_fastapi.py")


@pytest.fixture
def client(snippet):
    with TestClient(snippet.app) as client:
        yield client


def at_once(client, address, bodies):
    """Post the bodies from as many threads."""
    with ThreadPoolExecutor(len(bodies)) as pool:
        return list(pool.map(lambda body: client.post(address, json=body), bodies))


class Meeting:
    """A stand-in for the model that waits for the other requests."""

    def __init__(self, model, parties, seconds):
        self.model, self.barrier = model, threading.Barrier(parties)
        self.seconds, self.modes = seconds, []

    def __call__(self, x):
        self.barrier.wait(self.seconds)
        self.modes.append((torch.is_inference_mode_enabled(), self.model.training))
        return self.model(x)


def test_the_demonstration(capsys):
    runpy.run_path(str(ROOT / "snippets/deployment/serve_fastapi.py"), {}, "__main__")
    first, second = capsys.readouterr().out.splitlines()
    assert first == "[1, 2, 3, 4, 5, 6, 7, 8]"
    assert second == "422 send 1 to 64 rows of 4 numbers"


def test_the_labels_are_those_of_numpy(snippet, client):
    rows = np.random.default_rng(0).normal(0, 3, (64, 4)).astype(np.float32)
    w1, b1, w2, b2 = (p.detach().numpy() for p in snippet.model.parameters())
    assert (w1.shape, w2.shape) == ((16, 4), (3, 16))
    expected = (np.maximum(rows @ w1.T + b1, 0) @ w2.T + b2).argmax(1)
    answer = client.post("/predict", json=rows.tolist())
    assert answer.status_code == 200
    assert answer.json() == {"labels": expected.tolist()}
    assert len(set(expected)) > 1


def test_four_requests_are_in_the_model_at_once(snippet, client, monkeypatch):
    meeting = Meeting(snippet.model, parties=4, seconds=30)
    monkeypatch.setattr(snippet, "model", meeting)
    answers = at_once(client, "/predict", [[ROW] * n for n in (1, 2, 3, 4)])
    assert [len(answer.json()["labels"]) for answer in answers] == [1, 2, 3, 4]
    assert meeting.modes == [(True, False)] * 4


def test_async_lets_nobody_in_before_the_first_is_done():
    app, inside, most = FastAPI(), [0], []

    @app.post("/")
    async def predict():
        inside[0] += 1
        most.append(inside[0])
        torch.ones(200, 200) @ torch.ones(200, 200)
        inside[0] -= 1
        return threading.get_ident()

    with TestClient(app) as client:
        threads = {answer.json() for answer in at_once(client, "/", [None] * 4)}
    assert most == [1] * 4
    assert len(threads) == 1


def test_a_lock_lets_one_in():
    app, lock, inside, most = FastAPI(), threading.Lock(), [0], []

    @app.post("/")
    def predict():
        with lock, torch.inference_mode():
            inside[0] += 1
            most.append(inside[0])
            inside[0] -= 1

    with TestClient(app) as client:
        at_once(client, "/", [None] * 4)
    assert most == [1] * 4


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ([["a", 1, 2, 3]], "Input should be a valid number"),
        (ROW, "Input should be a valid list"),
        ({"rows": [ROW]}, "Input should be a valid list"),
        (None, "Field required"),
    ],
)
def test_a_bad_request_is_told_why(client, body, message):
    answer = client.post("/predict", json=body)
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["msg"].startswith(message)


@pytest.mark.parametrize(
    "rows", [[], [ROW] * 65, [ROW[:2]], [[*ROW, 1]], [ROW, []], [[], ROW]]
)
def test_rows_of_another_length_are_refused(client, rows):
    answer = client.post("/predict", json=rows)
    assert answer.status_code == 422
    assert answer.json() == {"detail": "send 1 to 64 rows of 4 numbers"}


@pytest.mark.parametrize("number", ["NaN", "1e400", "1e39"])
def test_a_number_that_float32_cannot_hold_gets_no_label(client, number):
    headers = {"Content-Type": "application/json"}
    body = f"[[5.1, 3.5, 1.4, 0.2], [{number}, 3.5, 1.4, 0.2]]"
    answer = client.post("/predict", content=body, headers=headers)
    assert answer.status_code == 422
    assert answer.json() == {"detail": "a number is NaN or too large"}


def test_form_data_is_no_json(client):
    answer = client.post("/predict", data={"rows": "1"})
    assert answer.status_code == 422
    (problem,) = answer.json()["detail"]
    assert problem["msg"] == "Input should be a valid list"


def test_a_named_field():
    app = FastAPI()

    @app.post("/")
    def count(rows: Annotated[list[list[float]], Body(embed=True)]):
        return len(rows)

    with TestClient(app) as client:
        assert client.post("/", json={"rows": [ROW] * 3}).json() == 3
        assert client.post("/", json=[ROW]).status_code == 422


def test_a_switch_of_the_main_thread_is_not_that_of_a_request():
    app = FastAPI()

    @app.get("/")
    def enabled():
        return torch.is_grad_enabled()

    with torch.no_grad(), TestClient(app) as client:
        assert client.get("/").json() is True


def test_what_json_cannot_hold():
    app = FastAPI()
    app.get("/nan")(lambda: {"y": float("nan")})
    app.get("/tensor")(lambda: {"y": torch.ones(2)})
    with TestClient(app) as client:
        with raises_as_documented(PAGE, "ValueError: Out of range float values"):
            client.get("/nan")
        assert client.get("/tensor").text == '{"y":{}}'


def test_forty_threads():
    app = FastAPI()

    @app.get("/")
    async def threads():
        return to_thread.current_default_thread_limiter().total_tokens

    with TestClient(app) as client:
        assert client.get("/").json() == 40


@pytest.mark.skipif(find_spec("python_multipart"), reason="it is installed")
def test_an_upload_needs_a_package():
    with raises_as_documented(PAGE, "RuntimeError: Form data requires"):

        @FastAPI().post("/")
        def upload(file: UploadFile):
            return file.filename

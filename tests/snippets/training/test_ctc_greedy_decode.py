"""ctc-loss, decoding: against itertools.groupby, with lengths and empty texts."""

from itertools import groupby

import torch

from tests.helpers import ROOT, load_snippet

SNIPPET = "training/ctc_greedy_decode.py"


def test_the_texts_of_the_snippet():
    assert load_snippet(SNIPPET).texts == [[3, 3, 5], [7]]


def test_random_paths():
    source = (ROOT / "snippets" / SNIPPET).read_text("utf-8")
    loop = source[source.index("texts = []") : source.index("print")]
    torch.manual_seed(0)
    frames, lengths = torch.randn(30, 12, 3), torch.randint(13, (30,))  # 0 to 12
    names = {"logits": frames, "input_lengths": lengths}
    exec(loop, names)
    for row, length, text in zip(
        frames.argmax(-1).tolist(), lengths.tolist(), names["texts"], strict=True
    ):
        assert text == [label for label, _ in groupby(row[:length]) if label]

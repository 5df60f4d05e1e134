"""pack-padded-sequence: against each sequence run alone; each pitfall."""

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "models/pack-padded-sequence"
snippet = load_snippet("models/pack_padded_sequence.py")


def alone(number: int):
    """What the LSTM gives for one sequence by itself, without a batch."""
    return snippet.lstm(snippet.sequences[number])


@pytest.mark.parametrize("number", range(3))
def test_each_sequence_is_as_alone(number):
    length = [2, 5, 3][number]
    output, (h_n, c_n) = alone(number)
    assert snippet.lengths[number] == length == len(snippet.sequences[number])
    torch.testing.assert_close(snippet.output[number, :length], output)
    torch.testing.assert_close(snippet.h_n[:, number], h_n)
    torch.testing.assert_close(snippet.c_n[:, number], c_n)
    assert not snippet.output[number, length:].any(), "padding is not zero"
    assert snippet.mask[number].tolist() == [t < length for t in range(5)]
    torch.testing.assert_close(snippet.mean[number], output.mean(0))


def test_the_shapes():
    assert snippet.padded.shape == (3, 5, 3)
    assert snippet.output.shape == (3, 5, 10)
    assert snippet.h_n.shape == (2, 3, 5)
    assert snippet.mean.shape == (3, 10)


def test_unpacked_the_last_step_is_padding():
    output, (h_n, _) = snippet.lstm(snippet.padded)
    assert not torch.allclose(h_n[:, 0], alone(0)[1][0], atol=1e-3)
    torch.testing.assert_close(output[1], alone(1)[0])


def test_the_last_real_step_by_gather():
    """One direction: the variant of the page."""
    lstm = nn.LSTM(3, 5, batch_first=True)
    output, _ = lstm(snippet.padded)
    last = output[torch.arange(3), snippet.lengths - 1]
    for number, sequence in enumerate(snippet.sequences):
        torch.testing.assert_close(last[number], lstm(sequence)[0][-1])


def test_lengths_must_fall():
    with raises_as_documented(PAGE, "RuntimeError: `lengths` array must be sorted"):
        pack_padded_sequence(snippet.padded, snippet.lengths, batch_first=True)


def test_lengths_of_another_kind():
    """The message of lengths on a GPU, raised with lengths of two dimensions."""
    with pytest.raises(RuntimeError) as caught:
        pack_padded_sequence(snippet.padded, torch.tensor([[5], [3], [2]]), True)
    text = "'lengths' argument should be a 1D CPU int64 tensor, but got 2D cpu Long"
    assert str(caught.value).startswith(text)


def test_a_length_of_zero():
    with raises_as_documented(PAGE, "RuntimeError: Length of all samples has to be"):
        pack_padded_sequence(
            snippet.padded, torch.tensor([2, 5, 0]), True, enforce_sorted=False
        )


def test_the_output_may_be_shorter_than_the_input():
    wide = nn.functional.pad(snippet.padded, (0, 0, 0, 2))  # 7 steps
    packed = pack_padded_sequence(wide, snippet.lengths, True, enforce_sorted=False)
    output, _ = pad_packed_sequence(snippet.lstm(packed)[0], batch_first=True)
    assert output.shape[1] == 5
    output, lengths = pad_packed_sequence(
        snippet.lstm(packed)[0], batch_first=True, total_length=7
    )
    assert output.shape[1] == 7
    assert torch.equal(lengths, snippet.lengths)


def test_a_length_above_the_padded_size_is_not_noticed():
    packed = pack_padded_sequence(
        snippet.padded, torch.tensor([2, 6, 3]), True, enforce_sorted=False
    )
    assert len(packed.data) == 2 + 5 + 3


def test_a_packed_sequence_is_no_tensor():
    with raises_as_documented(PAGE, "AttributeError: 'PackedSequence' object has no"):
        _ = snippet.packed.shape
    with raises_as_documented(PAGE, "TypeError: linear(): argument 'input'"):
        nn.Linear(3, 2)(snippet.packed)


def test_a_layer_on_the_packed_data():
    linear = nn.Linear(3, 2)
    packed = snippet.packed._replace(data=linear(snippet.packed.data))
    output, _ = pad_packed_sequence(packed, batch_first=True)
    torch.testing.assert_close(output[1], linear(snippet.sequences[1]))


def test_the_answer_keeps_the_length_of_the_padding():
    """A fixed length, longer than any sequence of the batch."""
    wide = nn.functional.pad(snippet.padded, (0, 0, 0, 4))  # 9 steps
    names = {"padded": wide, "lengths": snippet.lengths, "lstm": snippet.lstm}
    exec(recipes()["pack-padded-sequence"].answer.text, names)
    assert names["output"].shape == (3, 9, 10)
    torch.testing.assert_close(names["output"][:, :5], snippet.output)
    assert not names["output"][:, 5:].any()


def test_a_gru_has_no_cell_state():
    """Taken as an LSTM's, its two directions are h_n and c_n."""
    gru = nn.GRU(3, 5, bidirectional=True, batch_first=True)
    _, h_n = gru(snippet.packed)
    assert h_n.shape == (2, 3, 5)
    _, (forward, backward) = gru(snippet.packed)
    torch.testing.assert_close(torch.stack([forward, backward]), h_n)
    torch.testing.assert_close(h_n[:, 0], gru(snippet.sequences[0])[1])


def test_the_answer_in_bfloat16():
    lstm = nn.LSTM(3, 5, batch_first=True).bfloat16()
    names = {"padded": snippet.padded.bfloat16(), "lengths": snippet.lengths}
    exec(recipes()["pack-padded-sequence"].answer.text, names | {"lstm": lstm})

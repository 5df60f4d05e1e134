"""Beam search: keep the few likeliest texts at each step."""

import torch


@torch.no_grad()
def beam_search(model, ids, eos, beams=4, steps=20, alpha=1.0):
    """Return (score, ids) of the best text that continues the prompt ids (T,).

    model: ids (B, T) to logits (B, T, V). The score is the sum of the new
    tokens' log-probabilities, divided by their number to the power alpha.
    """
    done = []  # (score, ids) of finished texts
    ids, total = ids[None], torch.zeros(1, device=ids.device)
    for n in range(1, steps + 1):
        p = total[:, None] + model(ids)[:, -1].log_softmax(-1)  # (B, V)
        total, best = p.flatten().topk(min(beams, p.numel()))
        beam, token = best // p.shape[1], best % p.shape[1]
        ids = torch.cat([ids[beam], token[:, None]], dim=1)  # best first
        end = (token == eos) | (n == steps)
        scores = (total[end] / n**alpha).tolist()
        done += zip(scores, ids[end].tolist(), strict=True)
        total[end] = -torch.inf  # a finished text is not continued
        if done and max(done)[0] >= total.max() / steps**alpha:
            break  # no other can overtake it
    return max(done)


if __name__ == "__main__":
    # After token 0 comes 1 or 2; 1 leads on to anything, 2 to the end, 3.
    p = [
        [0, 0.6, 0.4, 0],
        [0, 0.4, 0.3, 0.3],
        [0, 0.05, 0.05, 0.9],
        [0, 0, 0, 1],
    ]
    model = torch.nn.Embedding.from_pretrained(torch.tensor(p).log())
    for beams in (1, 2):
        score, ids = beam_search(
            model, torch.tensor([0]), 3, beams, 3, alpha=0
        )
        print(f"{beams} beams: {ids}, log-probability {score:.2f}")

"""Beam search: keep the few likeliest texts at each step."""

import torch


@torch.no_grad()
def beam_search(model, ids, eos, beams=4, steps=20, alpha=1.0):
    """Return (score, ids) of the best text that continues the prompt (T,)."""
    done = []  # (score, ids) of finished texts
    ids, total = ids[None], torch.zeros(1, device=ids.device)
    for n in range(1, steps + 1):
        logp = model(ids)[:, -1].float().log_softmax(-1)  # (B, V)
        logp = logp + total[:, None]  # of the whole text
        total, best = logp.flatten().topk(min(beams, logp.numel()))
        beam, token = best // logp.shape[1], best % logp.shape[1]
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
    prompt, eos = torch.tensor([0]), 3
    for beams in (1, 2):
        score, ids = beam_search(model, prompt, eos, beams, 3, alpha=0)
        print(f"{beams} beams: {ids}, log-probability {score:.2f}")

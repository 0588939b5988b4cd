#!/usr/bin/env python3
"""Times transformers on a checkpoint, as `evoxc-hf bench` does evoxc: the same weights, prompts and lines of JSON.

usage: peers.py CKPT [--dtype float32] [--prefill 32,128] [--decode 64] [--repeat 5]
       peers.py --random-gpt2 TARGET      writes GPT-2 124M with random weights (seed 0) to a folder
Needs torch and transformers. Beside each other, in one run on an idle machine:
  evoxc-hf bench CKPT; python peers.py CKPT
"""
import argparse, json, statistics, time
import torch, transformers


def show(what, seconds, tokens=None, size=None):
    line = {"what": what, "peer": f"transformers-{transformers.__version__}", "ms": round(seconds * 1e3, 3)}
    if tokens:
        line["tokens_per_s"] = round(tokens / seconds, 1)
    if size:
        line["gb_per_s"] = round(size / seconds / 1e9, 2)
    print(json.dumps(line), flush=True)


def random_gpt2(target):
    torch.manual_seed(0)
    transformers.GPT2LMHeadModel(transformers.GPT2Config()).save_pretrained(target)


def main():
    a = argparse.ArgumentParser(usage=__doc__)
    a.add_argument("checkpoint", nargs="?")
    a.add_argument("--random-gpt2")
    a.add_argument("--dtype", default="float32")
    a.add_argument("--prefill", default="32,128")
    a.add_argument("--decode", type=int, default=64)
    a.add_argument("--repeat", type=int, default=5)
    a = a.parse_args()
    if a.random_gpt2:
        return random_gpt2(a.random_gpt2)
    start = time.perf_counter()
    model = transformers.AutoModelForCausalLM.from_pretrained(a.checkpoint, dtype=getattr(torch, a.dtype)).eval()
    show("load", time.perf_counter() - start)
    size = sum(p.numel() * p.element_size() for p in model.parameters())
    vocab = model.config.vocab_size
    prompt = lambda n: torch.tensor([[(i * 7919 + 13) % vocab for i in range(n)]])
    lengths = [int(n) for n in a.prefill.split(",")]
    with torch.inference_mode():
        # As generate does: logits of the last position only.
        first = lambda n: model(prompt(n), use_cache=True, logits_to_keep=1)
        first(lengths[0])
        for n in lengths:
            times = []
            for _ in range(a.repeat):
                t = time.perf_counter()
                first(n)
                times.append(time.perf_counter() - t)
            show(f"prefill {n}", statistics.median(times), n)
        each = []
        for _ in range(a.repeat):
            out = first(lengths[0])
            t = time.perf_counter()
            for _ in range(a.decode):
                token = out.logits[:, -1:].argmax(-1)
                out = model(token, past_key_values=out.past_key_values, use_cache=True)
            each.append((time.perf_counter() - t) / a.decode)
        show("decode", statistics.median(each), 1, size)


if __name__ == "__main__":
    main()

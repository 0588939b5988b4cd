#!/usr/bin/env python3
"""Reads a saved model back with transformers, and compares its logits with evoxc-hf's.

usage: readback.py FOLDER [--program target/release/evoxc-hf] [--length 12]
Needs torch and transformers. FOLDER is what `evoxc_hf::save` wrote, as the example `finetune` does.
transformers must find every parameter in the file, and every tensor of the file must be one.
Exits with 1 where something differs.
"""
import argparse, subprocess, sys
import torch, transformers


def main():
    a = argparse.ArgumentParser(usage=__doc__)
    a.add_argument("folder")
    a.add_argument("--program", default="target/release/evoxc-hf")
    a.add_argument("--length", type=int, default=12)
    a = a.parse_args()
    model, info = transformers.AutoModelForCausalLM.from_pretrained(
        a.folder, dtype=torch.float32, output_loading_info=True
    )
    faults = {k: v for k, v in info.items() if v}
    if faults:
        sys.exit(f"{a.folder}: transformers says {faults}")
    vocab = model.config.vocab_size
    ids = [(i * 7919 + 13) % vocab for i in range(a.length)]
    with torch.inference_mode():
        expected = model.eval()(torch.tensor([ids])).logits[0, -1]
    command = [a.program, "logits", a.folder, "--ids", ",".join(map(str, ids)), "--top", str(vocab)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[1:]
    got = torch.full((vocab,), float("nan"))
    for line in lines:
        number, logit = line.split()[:2]
        got[int(number)] = float(logit)
    difference = (got - expected).abs()
    allowed = 1e-3 + 1e-4 * expected.abs()
    print(
        f"{a.folder}: {model.config.model_type}, {sum(p.numel() for p in model.parameters())} parameters; largest difference "
        f"of {vocab} logits {difference.max():.1e}, largest logit {expected.abs().max():.1f}"
    )
    # A logit that is missing is no number, which is not below anything.
    if not bool((difference <= allowed).all()):
        sys.exit("the logits differ")


if __name__ == "__main__":
    main()

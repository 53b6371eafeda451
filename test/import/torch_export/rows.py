"""Runs programs for the rows of lib/import/torch_export/operators.def without PyTorch, and compares their results.

Usage: rows.py TILE_RUN FOLDER [--target=interpret]     runs the programs of Inputs/rows.zip
       rows.py --coverage OPERATORS_DEF CC              rows that no program uses; exit 1 if there are any
       rows.py --regenerate                             writes rows.zip: needs the package torch

rows.zip has, for each function of operators.py, NAME.pt2, as torch.export.save writes it but without traces, and
NAME.npz with the arguments and PyTorch's results. Where a decomposed program uses more rows, it is NAME_decomposed.pt2.
"""
import io
import json
import os
import re
import subprocess
import sys
import zipfile

import numpy as np

ROWS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "rows.zip")
# PyTorch 2.9 writes them only for sizes that its own analysis cannot settle, which no program of ours has.
UNWRITTEN = {"_operator.lt", "_operator.ne", "aten.sym_constrain_range.default"}


def targets(graph):
    for node in graph["nodes"]:
        yield node["target"].removeprefix("torch.ops.")
        for item in node["inputs"]:
            if "as_graph" in item["arg"]:
                yield from targets(item["arg"]["as_graph"]["graph"])


def graph_of(program):
    with zipfile.ZipFile(io.BytesIO(program)) as archive:
        name = next(name for name in archive.namelist() if name.endswith("/models/model.json"))
        return json.loads(archive.read(name))["graph_module"]["graph"]


def rows_used(programs):
    """add_ has the row of add, and view_copy that of view."""
    used = {target for program in programs for target in targets(graph_of(program))}
    return used | {re.sub(r"_(?=\.\w+$)", "", target) for target in used} | {re.sub(r"_copy(?=\.)", "", target) for target in used}


def coverage(table, compiler):
    command = [compiler, "-E", "-P", "-x", "c", "-DTORCH_OPERATOR=TABLE_ROW", table]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = ["".join(re.findall(r'"(.*?)"', target)) for target in re.findall(r'TABLE_ROW\(((?:"[^"]*"\s*)+),', text)]
    with zipfile.ZipFile(ROWS) as archive:
        used = rows_used(archive.read(name) for name in archive.namelist() if name.endswith(".pt2"))
    missing = [row for row in rows if row not in used | UNWRITTEN]
    for row in missing:
        print(f"no program uses {row}")
    print(f"{len(rows)} rows, {len(missing)} without a program")
    return not missing and len(rows) > 300


def regenerate():
    import tempfile
    from export import save
    from operators import CASES, exported
    files, seen = {}, set()
    with tempfile.TemporaryDirectory() as folder:
        for function, arguments in CASES.items():
            name, module, program = exported(function, arguments)
            results = module(*arguments)
            arrays = {f"in{k}": item.numpy() for k, item in enumerate(arguments)} | {f"out{k}": item.detach().numpy() for k, item in enumerate(results)}
            for suffix, form in (("", program), ("_decomposed", program.run_decompositions())):
                path = os.path.join(folder, "program.pt2")
                save(form, path, traces=False)
                with open(path, "rb") as file:
                    data = file.read()
                if suffix and rows_used([data]) <= seen:
                    continue
                seen |= rows_used([data])
                files[f"{name}{suffix}.pt2"] = data
            buffer = io.BytesIO()
            np.savez(buffer, **arrays)
            files[f"{name}.npz"] = buffer.getvalue()
    with zipfile.ZipFile(ROWS, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    print(f"{len(files)} files, {os.path.getsize(ROWS)} bytes")


def agree(seen, wanted):
    """As programs have integers: without signs."""
    wanted = wanted.view(f"i{wanted.itemsize}") if wanted.dtype.kind == "u" else wanted
    bound = 1e-2 if wanted.dtype == np.float16 else 1e-4
    return seen.shape == wanted.shape and seen.dtype == wanted.dtype and np.allclose(seen, wanted, rtol=bound, atol=1e-5, equal_nan=True)


def run(tile_run, folder, target):
    right = wrong = 0
    with zipfile.ZipFile(ROWS) as archive:
        archive.extractall(folder)
        names = [name.removesuffix(".pt2") for name in archive.namelist() if name.endswith(".pt2")]
    for name in names:
        path = os.path.join(folder, name)
        arrays = np.load(path.removesuffix("_decomposed") + ".npz")
        inputs, outputs = ([key for key in arrays if key.startswith(word)] for word in ("in", "out"))
        for key in inputs:
            np.save(f"{path}.{key}.npy", arrays[key])
        command = [tile_run, path + ".pt2", f"--target={target}", *(f"--in={path}.{key}.npy" for key in inputs),
                   *(f"--out={path}.{key}.npy" for key in outputs)]
        done = subprocess.run(command, capture_output=True, text=True)
        bad = outputs if done.returncode else [key for key in outputs if not agree(np.load(f"{path}.{key}.npy"), arrays[key])]
        right, wrong = right + len(outputs) - len(bad), wrong + len(bad)
        if bad:
            print(f"{name}: {', '.join(bad)} wrong {done.stderr.strip()[:300]}")
    print(f"{target}: {right} results right, {wrong} wrong")
    return wrong == 0


if __name__ == "__main__":
    names = [item for item in sys.argv[1:] if not item.startswith("--")]
    target = next((item.removeprefix("--target=") for item in sys.argv if item.startswith("--target=")), "interpret")
    if "--regenerate" in sys.argv:
        regenerate()
    else:
        sys.exit(not (coverage(*names) if "--coverage" in sys.argv else run(*names, target)))

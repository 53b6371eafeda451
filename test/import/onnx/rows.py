"""Runs small models for every row of lib/import/onnx/operators.def, and compares the results with Inputs/rows.npz.

Usage: rows.py TILE_RUN FOLDER [--target=interpret] [--part=K/N]     --part: each N-th model from the K-th on
       rows.py --coverage OPERATORS_DEF CC                           rows that no model uses; exit 1 if there are any
       rows.py --regenerate                                          writes rows.npz: needs the onnx package

The models are written without the onnx package (model_writer.py). rows.npz holds what its reference implementation
computes of them. Where that does not know an operator's old form, or is wrong (LRN, LpNormalization of negative
numbers), the case (row_cases.py) says what numpy computes.
"""
import os
import re
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import model_writer as w
from model_writer import node, tensor, value
from row_cases import CASES, KINDS, Fixed, numbered

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "rows.npz")


def open_value(name, kind):
    """A result of any sizes."""
    return w.text(1, name) + w.text(2, w.text(1, w.number(1, kind)))


def model_of(chosen):
    """One model of several cases: (bytes, its inputs in order, its results in order)"""
    nodes, inputs, outputs, tensors, given, results = [], [], [], [], [], []
    for number, one in chosen:
        for operator, ins, outs, attributes in one.nodes:
            filled = {key: item(number) if callable(item) else item for key, item in attributes.items()}
            nodes.append(node(operator, [numbered(number, name) for name in ins], [numbered(number, name) for name in outs], f"{operator}_{number}", one.domain, **filled))
        for name, array in one.inputs.items():
            kind, sizes = KINDS[array.dtype.name], list(array.shape)
            if isinstance(array, Fixed):
                tensors.append(tensor(numbered(number, name), kind, sizes, array.ravel().tolist()))
            else:
                inputs.append(value(numbered(number, name), kind, sizes))
                given.append(array)
        for name, kind in one.results.items():
            outputs.append(open_value(numbered(number, name), kind))
            results.append(numbered(number, name))
    first = chosen[0][1]
    return w.model(nodes, inputs, outputs, tensors, opset=first.opset, domain=first.domain), given, results


def models():
    """(name, cases, bytes, inputs, results): cases of one opset and domain, at most 25 together."""
    groups = {}
    for number, one in enumerate(CASES):
        groups.setdefault((one.opset, one.domain), []).append((number, one))
    for (opset, domain), chosen in sorted(groups.items()):
        for start in range(0, len(chosen), 25):
            part = chosen[start:start + 25]
            yield f"opset{opset}{domain}-{start // 25}", part, *model_of(part)


def regenerate():
    from onnx import ModelProto
    from onnx.reference import ReferenceEvaluator
    arrays = {}
    for number, one in enumerate(CASES):
        data, given, results = model_of([(number, one)])
        if one.wanted:
            wanted = one.wanted()
            wanted = wanted if isinstance(wanted, tuple) else (wanted, )
        else:
            session = ReferenceEvaluator(ModelProto.FromString(data))
            names = [name for name, array in one.inputs.items() if not isinstance(array, Fixed)]
            wanted = session.run(results, {numbered(number, name): np.asarray(one.inputs[name]) for name in names})
        kinds = {kind: name for name, kind in KINDS.items()}
        for name, array, kind in zip(results, wanted, one.results.values(), strict=True):
            arrays[name] = np.asarray(array).astype(kinds[kind])
    np.savez_compressed(RESULTS, **arrays)
    print(f"{len(CASES)} cases, {len(arrays)} results")


def run(tile_run, folder, target, part):
    """Whether all results are right."""
    wanted, first, step = np.load(RESULTS), *(int(number) for number in part.split("/"))
    right = wrong = 0
    for name, _, data, given, results in list(models())[first - 1::step]:
        path = os.path.join(folder, f"rows-{name}")
        w.save(path + ".onnx", data)
        for k, array in enumerate(given):
            np.save(f"{path}.in{k}.npy", signless(np.asarray(array)))
        command = [tile_run, path + ".onnx", f"--target={target}", *(f"--in={path}.in{k}.npy" for k in range(len(given))),
                   *(f"--out={path}.out{k}.npy" for k in range(len(results)))]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            print(f"{name}: {done.stderr.strip()[:500]}")
            wrong += len(results)
            continue
        for k, result in enumerate(results):
            why = difference(np.load(f"{path}.out{k}.npy"), wanted[result])
            right, wrong = right + (not why), wrong + bool(why)
            if why:
                operators = "+".join(item[0] for item in CASES[int(result[1:].split("_")[0])].nodes)
                print(f"{name}: {operators}, result {result}: {why}")
    print(f"{target}: {right} results right, {wrong} wrong")
    return wrong == 0


def signless(array):
    """As programs have integers."""
    return array.view(f"i{array.itemsize}") if array.dtype.kind == "u" else array


def difference(seen, wanted):
    wanted = signless(wanted)
    if seen.shape != wanted.shape or seen.dtype != wanted.dtype:
        return f"{seen.dtype}{list(seen.shape)}, wanted {wanted.dtype}{list(wanted.shape)}"
    close = np.isclose(seen.astype("f8"), wanted.astype("f8"), rtol=1e-4, atol=1e-5, equal_nan=True) if seen.dtype.kind == "f" else seen == wanted
    return "" if close.all() else f"{(~close).sum()} of {close.size} differ: {seen[~close].flat[0]}, wanted {wanted[~close].flat[0]}"


def coverage(table, compiler):
    """Rows of the table that no case uses."""
    text = subprocess.run([compiler, "-E", "-P", "-x", "c", "-DONNX_OPERATOR=TABLE_ROW", table], capture_output=True, text=True, check=True).stdout
    rows = [(domain, name, int(since), int(until)) for domain, name, since, until in re.findall(r'ROW\("(.*?)", "(.*?)", (\d+), (\d+),', text)]
    used = {(one.domain, item[0], w.VERSIONS.get(one.domain, 1) if one.domain else one.opset) for one in CASES for item in one.nodes}
    missing = [row for row in rows if not any(row[0] == domain and row[1] == name and row[2] <= opset and (not row[3] or opset <= row[3])
                                              for domain, name, opset in used)]
    for domain, name, since, until in missing:
        print(f"no case has {domain}{'.' if domain else ''}{name} of opset {since} to {until or 'the newest'}")
    print(f"{len(rows)} rows, {len(missing)} without a case")
    return not missing and len(rows) > 200


if __name__ == "__main__":
    options = dict(item.lstrip("-").split("=") for item in sys.argv[1:] if "=" in item)
    names = [item for item in sys.argv[1:] if not item.startswith("--")]
    if "--regenerate" in sys.argv:
        regenerate()
    elif "--coverage" in sys.argv:
        sys.exit(not coverage(*names))
    else:
        sys.exit(not run(*names, options.get("target", "interpret"), options.get("part", "1/1")))

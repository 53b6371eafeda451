"""Checks a report of tile-bench: every row judged right and timed, ratios where there is a peer; and that a judge judges."""
import argparse
import json
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "tools" / "tile-bench"))
import construct  # noqa: E402
import page  # noqa: E402
from bench import judge  # noqa: E402
from gpu import static  # noqa: E402
from onnx_forms import FORMS  # noqa: E402
from operators import OPERATORS, UNIT, sums_of  # noqa: E402
from tables import TABLES, title  # noqa: E402
from worker import names_in  # noqa: E402

report, folder = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[3])
options = argparse.Namespace(build=Path(sys.argv[4]), peer_python=Path(sys.executable), rounds=1)
manifest, results = report["manifest"], report["results"]
assert manifest["processor"] and manifest["compiler"] and manifest["peaks"]["f32"] > 0 and manifest["seed"] == 7
assert [(r["name"], r["threads"]) for r in results] == [(title(*case), n) for n in (1, 2) for case in TABLES["tiny"]]
for row in results:
    for name, entry in row["contenders"].items():
        timed = entry.get("right") and entry["rounds"] >= 1 and 0 < entry["least_s"] <= entry["quartiles_s"][1]
        assert timed or (name != "ours" and "absent" in entry), (row["name"], name, entry)
    peers = [name for name, entry in row["contenders"].items() if name != "ours" and "median_s" in entry]
    assert ("ratio" in row) == bool(peers), row
    assert peers == (["openblas"] if row["arguments"].get("dtype", "f32") == "f32" and row["operator"].startswith(("gemm", "spmm", "batched", "grouped", "lowbit", "masked", "routed")) else []), row
assert set(report["geometric_means"]) == {"tiny, 1", "tiny, 2"}


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = []

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)


computes = [case for case in TABLES["tiny"] if OPERATORS[case[0]].work(**case[1])[0]]  # the others are in no roofline
tags = Tags()
tags.feed(Path(sys.argv[2]).read_text())
rooflines = 2 * len({arguments.get("dtype", "f32") for _, arguments in computes})  # one a type, for each number of threads
assert tags.seen.count("table") == 2 and tags.seen.count("svg") == 2 + rooflines and tags.seen.count("circle") == 2 * len(computes), tags.seen

# What torch computed with; the models for onnxruntime name each of their inputs.
assert names_in("""onednn_verbose,v1,info,oneDNN v3.7.1
onednn_verbose,v1,primitive,exec,cpu,matmul,brg_matmul:avx512_core_bf16,undef,src:bf16::blocked:ab::f0,,,9x33:33x17,0.1
onednn_verbose,v1,primitive,exec,cpu,matmul,brg_matmul:avx512_core_bf16,undef,src:bf16::blocked:ab::f0,,,9x33:33x17,0.1
MKL_VERBOSE oneMKL 2024.0 Update 2 for Intel(R) 64 architecture Intel(R) AVX-512 enabled processors, Lnx 2.00GHz
MKL_VERBOSE SGEMM(N,N,17,9,5,0x7f,0x7f) 1.2us""") == ["oneDNN brg_matmul:avx512_core_bf16", "MKL Intel(R) AVX-512", "MKL SGEMM"]
formed = [(OPERATORS[name].arrays(np.random.default_rng(7), **arguments), FORMS[name], arguments) for name, arguments in TABLES["tiny"] if name in FORMS]
assert set(FORMS) <= set(OPERATORS) and len(formed) >= 10
for arrays, form, arguments in formed:
    nodes, inputs, _ = form(arrays, **arguments) or ([], [], None)
    assert sorted({name for _, names, _ in nodes for name in names} - {"#"}) == list("abc"[:len(inputs)]), (nodes, len(inputs))

# One wrong element, a NaN and a sum that forgot a term are all found, in every operator.
for operator, arguments in TABLES["tiny"]:
    kind, dtype = OPERATORS[operator], arguments.get("dtype", "f32")
    exact, terms = kind.exact(kind.arrays(np.random.default_rng(7), **arguments), **arguments)
    assert dtype in UNIT and judge(exact.astype("f4" if dtype != "i8" else "i4"), exact, terms, dtype, sums_of(**arguments))[1], operator
    for change in (lambda x: x + 1, lambda x: x * np.nan if dtype != "i8" else x - 1, lambda x: x * 0 + 3):
        spoiled = exact.copy()
        spoiled.flat[-1] = change(spoiled.flat[-1])
        assert not judge(spoiled, exact, terms, dtype, sums_of(**arguments))[1], operator

# Tables that run no operator. The bars on choosing tiles that are not times; a kernel compiled for a chip, peers or none.
for case, ops in ((("gemm", dict(m=127, n=255, k=511)), 2), (("transpose", dict(m=512, n=512)), 1)):
    for chip in construct.CHIPS:
        row = construct.row_of(case, chip, options, folder)
        assert row["ops"] == ops and row["ms"] > 0 and 0 < row["evaluations"] < 5000 and 1 <= row["cost"] <= 1.25, row
for case in [case for case in static.CASES if case[1].startswith("gfx")]:
    entries = static.row_of(case, options, folder)["contenders"]
    assert entries["ours"]["spilled_bytes"] == 0 and entries["ours"]["registers"] > 32 and entries["ours"]["instructions"] > 300, entries
    assert entries["ours"]["products"] >= 16 and all("seconds" in entry or entry["absent"] for entry in entries.values()), entries
assert page.construction([row]).count("<tr>") == 2 and page.static_figures([{"name": "x", "contenders": entries}]).count("<tr>") == 5

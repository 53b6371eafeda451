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
from operators import OPERATORS, UNIT, sums_of  # noqa: E402
from tables import TABLES, title  # noqa: E402

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
assert tags.seen.count("table") == 2 and tags.seen.count("svg") == 4 and tags.seen.count("circle") == 2 * len(computes), tags.seen

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

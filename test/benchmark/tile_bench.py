"""Checks a report of tile-bench: every row judged right and timed, ratios where there is a peer; and that a judge judges."""
import json
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "tools" / "tile-bench"))
from bench import judge  # noqa: E402
from operators import OPERATORS, UNIT  # noqa: E402
from tables import TABLES, title  # noqa: E402

report = json.loads(Path(sys.argv[1]).read_text())
manifest, results = report["manifest"], report["results"]
assert manifest["processor"] and manifest["compiler"] and manifest["peaks"]["f32"] > 0 and manifest["seed"] == 7
assert [(r["name"], r["threads"]) for r in results] == [(title(*case), n) for n in (1, 2) for case in TABLES["tiny"]]
for row in results:
    for name, entry in row["contenders"].items():
        timed = entry.get("right") and entry["rounds"] >= 1 and 0 < entry["least_s"] <= entry["quartiles_s"][1]
        assert timed or (name != "ours" and "absent" in entry), (row["name"], name, entry)
    peers = [name for name, entry in row["contenders"].items() if name != "ours" and "median_s" in entry]
    assert ("ratio" in row) == bool(peers), row
    assert peers == (["openblas"] if row["arguments"].get("dtype", "f32") == "f32" and row["operator"].startswith(("gemm", "spmm")) else []), row
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
    assert dtype in UNIT and judge(exact.astype("f4" if dtype != "i8" else "i4"), exact, terms, dtype)[1], operator
    for change in (lambda x: x + 1, lambda x: x * np.nan if dtype != "i8" else x - 1, lambda x: x * 0 + 3):
        spoiled = exact.copy()
        spoiled.flat[-1] = change(spoiled.flat[-1])
        assert not judge(spoiled, exact, terms, dtype)[1], operator

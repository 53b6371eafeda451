"""Checks a trace and the statistics of the same run. Use: trace.py TRACE STATS KERNEL... [--calls=N] [--phases=a,b]

Each kernel has one span a launch on the row of launches, and the spans of other rows lie inside one of those."""
import json
import sys

arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
flags = dict(a[2:].split("=") for a in sys.argv[1:] if a.startswith("--"))
trace, stats, wanted = json.load(open(arguments[0])), json.load(open(arguments[1])), arguments[2:]
calls = int(flags.get("calls", 1))

events = trace["traceEvents"]
rows = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M"}
spans = [e for e in events if e["ph"] == "X"]
assert all(e["dur"] >= 0 and e["ts"] >= 0 for e in spans), "time goes forward"
assert trace["otherData"]["spans_left_out"] == 0

phases = [e["name"] for e in spans if rows[e["tid"]] == "phases"]
missing = set(flags.get("phases", "calls").split(",")) - set(phases)
assert not missing, f"phases are {phases}"

launches = [e for e in spans if rows[e["tid"]] == "thread 0 (launches)"]
assert {e["name"] for e in launches} == set(wanted), f"kernels are {launches}"
for e in spans:
    if rows[e["tid"]] not in ("phases", "thread 0 (launches)"):
        around = [l for l in launches if l["name"] == e["name"] and l["ts"] <= e["ts"]
                  and e["ts"] + e["dur"] <= l["ts"] + l["dur"] + 1e-3]
        assert around, f"{e} belongs to no launch"

kernels = stats["kernels"]
assert set(kernels) == set(wanted), f"kernels of the statistics are {list(kernels)}"
for name, facts in kernels.items():
    mine = [e for e in launches if e["name"] == name]
    assert facts["launches"] * calls == len(mine), f"{name}: {facts['launches']} launches, {len(mine)} spans"
    assert abs(facts["programs"] * calls - sum(e["args"]["programs"] for e in mine)) < 1e-6
    assert abs(facts["time_ms"] * calls * 1000 - sum(e["dur"] for e in mine)) < 1 + 1e-3 * len(mine)
assert sum(k["launches"] for k in kernels.values()) == stats["launches"]
print("trace is right")

"""Removes each await of a program of launches by itself: the emulator must find a race. Use: co_schedule_awaits.py TILE_RUN FILE [LANES]

FILE is what tile-co-schedule-kernels wrote, of whose programs the first is looked at: lib/transforms/schedule/templates/program.mlir says
what the words of its plan are. An await that is removed names no counter. No item of FILE has more awaits than its record holds.
LANES: records of lanes in segments at the plan's beginning, for a program with segments (flow.mlir), whose decisions await too.
"""
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

PLAN = re.compile(r"(@plan_of_program\w* : memref<)(\d+)(xi32> = dense<)([^>]*)>")
WORDS, MORE, AWAITS = 16, 7, (9, 11, 13)
ITEMS, FIRST = 1, 12  # of a lane in a segment


def words(text):
    if text.startswith('"'):
        data = bytes.fromhex(text.strip('"')[2:])
        return list(struct.unpack(f"<{len(data) // 4}i", data))
    return [int(word) for word in text.strip("[]").split(",")]


def awaitsOf(plan, lanes):
    """Where the awaits of all records are."""
    if lanes:  # the last lane of the last segment says where its items are
        last = WORDS * (lanes - 1)
        first, behind = lanes, plan[last + FIRST] + plan[last + ITEMS]
    else:
        begins = next(i for i in range(1, len(plan)) if plan[i] < plan[i - 1] or i == WORDS * plan[0])
        first, behind = plan[0], max(plan[:begins])
    records = [WORDS * r for r in range(first, behind)]
    assert all(plan[record + MORE] == plan[record + MORE + 1] for record in records)
    return [record + at for record in records for at in AWAITS if plan[record + at] >= 0]


def main():
    run, file, *lanes = sys.argv[1:]
    text = Path(file).read_text()
    found = PLAN.search(text)
    plan = words(found[4])
    awaits = awaitsOf(plan, int(lanes[0]) if lanes else None)
    for at in awaits:
        without = plan[:at] + [-1, 0] + plan[at + 2:]
        changed = text[:found.start(4)] + str(without) + text[found.end(4):]
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as other:
            other.write(changed)
            other.flush()
            done = subprocess.run([run, other.name, "--target=emulate:sm_80"], capture_output=True, text=True)
        if done.returncode == 0 or "race" not in done.stderr:
            print(f"the await at {at} of the plan is not missed: {plan}\n{done.stderr}")
            return 1
    print(f"{len(awaits)} awaits: each is needed")
    return 0


if __name__ == "__main__":
    sys.exit(main())

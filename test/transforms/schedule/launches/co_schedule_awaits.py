"""Removes each await of a program of launches by itself: the emulator must find a race. Use: co_schedule_awaits.py TILE_RUN FILE

FILE is what tile-co-schedule-kernels wrote, of whose programs the first is looked at. The await leaves the items that have it in the plan
(lib/transforms/schedule/templates/program.mlir): it moves to the end of their awaits, which then end before it.
"""
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

PLAN = re.compile(r"(@plan_of_program\w* : memref<)(\d+)(xi64> = dense<)([^>]*)>")


def words(text):
    if text.startswith('"'):
        data = bytes.fromhex(text.strip('"')[2:])
        return list(struct.unpack(f"<{len(data) // 8}q", data))
    return [int(word) for word in text.strip("[]").split(",")]


def without(plan, items, begin, end, at):
    """The plan without the await at `at` in the items whose awaits are begin to end."""
    pairs = [plan[k:k + 2] for k in range(begin, end, 2) if k != at] + [plan[at:at + 2]]
    changed = plan[:begin] + sum(pairs, []) + plan[end:]
    for item in items:
        if changed[item + 3:item + 5] == [begin, end]:
            changed[item + 4] = end - 2
    return changed


def main():
    run, file = sys.argv[1:]
    text = Path(file).read_text()
    found = PLAN.search(text)
    plan = words(found[4])
    items = range(plan[0], plan[plan[0] - 1], 6)
    awaits = sorted({(plan[item + 3], plan[item + 4], at) for item in items for at in range(plan[item + 3], plan[item + 4], 2)})
    for begin, end, at in awaits:
        changed = text[:found.start(4)] + str(without(plan, items, begin, end, at)) + text[found.end(4):]
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

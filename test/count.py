"""Adds up the results.json files that lit wrote and ends with CI's line: N passed, N failed[, N skipped].

Expects: the files, as arguments. Exits 1 when a test failed, was never resolved or ran out of time, when a file is
missing or unreadable (lit itself broke), or when no test ran at all. Skipped = needs something this machine lacks.
"""
import collections
import json
import sys

PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED", "EXCLUDED", "SKIPPED"}  # everything else, whatever lit may call it, is a failure


def verdict(code):
    return "passed" if code in PASSED else "skipped" if code in SKIPPED else "failed"


def main(paths):
    counts = collections.Counter()
    complete = True
    for path in paths:
        try:
            with open(path) as file:
                tests = json.load(file)["tests"]
        except (OSError, ValueError, KeyError) as error:
            print(f"count: no results in {path}: {error}", file=sys.stderr)
            complete = False
            continue
        counts.update(verdict(test["code"]) for test in tests)
    if not counts["passed"] + counts["failed"]:
        print("count: no test ran", file=sys.stderr)
        complete = False
    skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    print(f"{counts['passed']} passed, {counts['failed']} failed{skipped}")
    return 0 if complete and not counts["failed"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

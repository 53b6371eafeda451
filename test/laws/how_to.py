"""Follows a how-to page in a scratch copy of the tree, step by step, and counts the files that the steps touch.

Usage: how_to.py PAGE ROOT SCRATCH [--at-most=N]   writes the changed files below SCRATCH (links to the rest), prints
                                                  one line per file; exits 1 if a step cannot be followed, if the page's
                                                  count is wrong, or if there are more than N files

A step is a fenced block behind a comment, which readers do not see:
    <!-- create PATH -->             the block is a new file
    <!-- insert PATH before TEXT --> the block goes before the line of PATH that holds TEXT
    <!-- insert PATH after TEXT -->
A page says how many files it touches: "Files: 4". An earlier page that a page builds on: <!-- follow how-to-add-an-op.md -->.
"""
import os
import re
import sys

STEP = re.compile(r"^<!-- (create|insert) (\S+)(?: (before|after) (.+?))? -->\n+(?:^[^\n`<]+\n+)*?```\w*\n(.*?)^```$", re.M | re.S)
FOLLOW = re.compile(r"^<!-- follow (\S+) -->$", re.M)
FILES = re.compile(r"\bFiles: (\d+)\b")


def insert(text, where, anchor, block, path):
    lines = text.split("\n")
    found = [number for number, line in enumerate(lines) if anchor in line]
    if not found:
        raise SystemExit(f"{path}: no line holds '{anchor}'")
    at = found[0] + (where == "after")
    return "\n".join(lines[:at] + block.rstrip("\n").split("\n") + lines[at:])


def follow(page, root, changed):
    for other in FOLLOW.findall(read(page)):
        follow(os.path.join(os.path.dirname(page), other), root, changed)
    return follow_own(page, root, changed)


def follow_own(page, root, changed):
    """The steps of the page alone: those of the pages that it builds on are in `changed` already."""
    text, own = read(page), set()
    for kind, path, where, anchor, block in STEP.findall(text):
        before = changed.get(path, read(os.path.join(root, path)))
        if kind == "create":
            if before is not None:
                raise SystemExit(f"{path}: exists already")
            changed[path] = block
        elif before is None:
            raise SystemExit(f"{path}: no such file")
        else:
            changed[path] = insert(before, where, anchor, block, path)
        own.add(path)
    return own, FILES.search(text)


def read(path):
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(scratch, changed):
    for path, text in changed.items():
        target = os.path.join(scratch, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as file:
            file.write(text)


def main(page, root, scratch, *flags):
    changed = {}
    own, stated = follow(page, root, changed)
    write(scratch, changed)
    for path in sorted(own):
        print(path)
    print(f"{len(own)} files")
    if not stated or int(stated.group(1)) != len(own):
        print(f"{page}: states {stated.group(0) if stated else 'no count'}; its steps touch {len(own)} files")
        return 1
    most = [int(flag.split("=")[1]) for flag in flags if flag.startswith("--at-most=")]
    return int(bool(most and len(own) > most[0]))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

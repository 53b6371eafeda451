"""Follows all how-to pages in one scratch clone, builds the clone and runs the commands that the pages print.

Usage: how_to_executed.py ROOT SCRATCH   prints one line per page; exits 1 if a command fails to print what its page shows
       how_to_executed.py --self-test    compares outputs that agree and outputs that do not

A page marks its commands by <!-- run --> ahead of a block, and their output by <!-- prints --> ahead of the next block.
Each line of that block must be in the output, in order; `…` stands for any text. SCRATCH is kept between runs, so that a
second run builds only what changed.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

import how_to

COMMANDS = re.compile(r"^<!-- run -->\n+```sh\n(.*?)^```\n+<!-- prints -->\n+```text\n(.*?)^```$", re.M | re.S)


def copy(root, clone, changed):
    """Unchanged files keep their times, so that only changed ones are built again. Files that ROOT lacks go."""
    clone.mkdir(parents=True, exist_ok=True)
    kept = {*tracked(root), *changed}
    for path in kept:
        target = clone / path
        content = changed[path].encode() if path in changed else (root / path).read_bytes()
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_bytes() != content:
            target.write_bytes(content)
        if path not in changed:
            target.chmod((root / path).stat().st_mode)
    for path in tracked(clone):
        if path not in kept:
            (clone / path).unlink()
    if not (clone / ".venv").exists():
        (clone / ".venv").symlink_to((root / ".venv").resolve())


def tracked(root):
    for folder, folders, files in os.walk(root):
        at = os.path.relpath(folder, root)
        folders[:] = [name for name in folders
                      if name not in ("Output", "__pycache__") and
                      not (at == "." and (name.startswith("build") or name in (".git", ".venv", "shared")))]
        for name in files:
            if not os.path.islink(os.path.join(folder, name)):
                yield os.path.normpath(os.path.join(at, name))


def is_shown(shown, output):
    """Is each line that is shown in the output, in order?"""
    lines = iter(output.splitlines())
    patterns = [".*".join(map(re.escape, line.split("…"))) for line in shown.splitlines()]
    return all(any(re.fullmatch(pattern, line.rstrip()) for line in lines) for pattern in patterns)


def self_test():
    right = [is_shown("a…\nc", "x\nabc\nc\n"), not is_shown("c\na…", "abc\nc\n"), not is_shown("a", "ab\n"), is_shown("", "")]
    print(f"self-test: {sum(right)} of {len(right)} right")
    return not all(right)


def main(root, scratch):
    root, clone = Path(root), Path(scratch)
    pages = sorted((root / "docs").glob("how-to-add-*.md"))
    changed = {}
    for page in pages:
        if not how_to.FOLLOW.search(page.read_text()):
            how_to.follow(page, root, changed)
    for page in pages:  # pages that build on another page, whose steps are there already
        text = page.read_text()
        if how_to.FOLLOW.search(text):
            how_to.follow_own(page, root, changed)
    copy(root, clone, changed)
    subprocess.run(["./dev", "build"], cwd=clone, stdout=sys.stderr, check=True)
    failed = 0
    for page in pages:
        wrong, commands = 0, COMMANDS.findall(page.read_text())
        for command, shown in commands:
            run = subprocess.run(["bash", "-c", command], cwd=clone, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if not is_shown(shown, run.stdout):
                print(f"{page.name}: printed\n{run.stdout[-4000:]}\nexpected\n{shown}")
                wrong += 1
        print(f"{page.name}: {len(commands)} commands, {wrong} wrong", flush=True)
        failed += wrong or not commands
    return bool(failed)


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1] == "--self-test" else main(*sys.argv[1:]))

"""Runs a pipeline as a whole and, pass by pass, as its printed expansion: the modules must be the same byte for byte.

Use: expansion.py TILE_OPT PIPELINE FILE
"""
import subprocess
import sys


def split(text):
    """The comma-separated passes of a pipeline, not looking into (…) and {…}."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += c in "({"
        depth -= c in ")}"
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return parts + [text[start:]]


def flatten(anchor, text):
    """Every single pass as the pipeline that runs just that one."""
    for part in split(text):
        if part.endswith(")") and "(" in part and "{" not in part.split("(")[0]:
            name, inner = part[:-1].split("(", 1)
            for passes in flatten(name, inner):
                yield f"{anchor}({passes})"
        else:
            yield f"{anchor}({part})"


def run(command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"failed: {' '.join(command)}\n{done.stderr}")
    return done


def main():
    tool, pipeline, file = sys.argv[1:]
    whole = run([tool, f"--{pipeline}", "--dump-pass-pipeline", file])
    dump = whole.stderr.split("builtin.module(", 1)[1].strip()
    passes = list(flatten("builtin.module", dump[:dump.rindex(")")]))
    places = "--mlir-print-debuginfo"  # messages of run-time failures say where in the file they come from
    text = run([tool, places, file]).stdout
    for one in passes:
        text = run([tool, places, f"--pass-pipeline={one}"], text).stdout
    text = run([tool], text).stdout
    if text != whole.stdout:
        sys.exit(f"{file}: {len(passes)} passes one by one give another module than --{pipeline}")
    print(f"{len(passes)} passes, same module")


if __name__ == "__main__":
    main()

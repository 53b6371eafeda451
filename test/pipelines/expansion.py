"""Runs a pipeline as a whole and, pass by pass, as its printed expansion: the modules must be the same byte for byte.

Use: expansion.py TILE_OPT PIPELINE FILE…

All files go through the tool together, as one split input: most of the time is the tool's start, once for each pass.
"""
import os
import subprocess
import sys
import tempfile


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
    tool, pipeline, *files = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        together = os.path.join(folder, "all.mlir")
        with open(together, "w", encoding="utf-8") as out:
            out.write("\n// -----\n".join(open(file, encoding="utf-8").read() for file in files))
        compare([tool, "--split-input-file"], pipeline, together, len(files))


def compare(tool, pipeline, file, count):
    whole = run([*tool, f"--{pipeline}", "--dump-pass-pipeline", file])
    dumps = {dump.split("builtin.module(", 1)[1].strip() for dump in whole.stderr.split("Pass Manager with")[1:]}
    if len(dumps) != 1:
        sys.exit(f"{len(dumps)} expansions of {pipeline}")
    passes = list(flatten("builtin.module", dumps.pop()[:-1]))
    places = "--mlir-print-debuginfo"  # messages of run-time failures say where in the file they come from
    text = run([*tool, places, file]).stdout
    for one in passes:
        text = run([*tool, places, f"--pass-pipeline={one}"], text).stdout
    text = run(tool, text).stdout
    if text != whole.stdout:
        sys.exit(f"{len(passes)} passes one by one give another module than --{pipeline}")
    many = "s" * (count > 1)
    print(f"{len(passes)} passes, {count} program{many}, same module{many}")


if __name__ == "__main__":
    main()

"""Compares the flags of --help with those of a page. Use: help.py PAGE TOOL..."""
import re
import subprocess
import sys

page = open(sys.argv[1]).read()
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")
helped = {flag for tool in sys.argv[2:] for flag in FLAG.findall(subprocess.run([tool, "--help"], check=True, capture_output=True, text=True).stdout)}
described = set(FLAG.findall(page))
# Of tile-opt, mlir, pkg-config and the linker: not ours to list.
foreign = {"--tile-to-cpu-pipeline", "--mlir-print-ir-after-all", "--dump-pass-pipeline", "--cflags", "--libs", "--tile-to", "--whole-archive", "--no-whole-archive", "--as-needed", "--no-as-needed"}
wrong = [f"{flag}: in --help only" for flag in sorted(helped - described - {"--help"})]
wrong += [f"{flag}: on the page only" for flag in sorted(described - helped - foreign)]
print("\n".join(wrong) if wrong else "all flags are described")

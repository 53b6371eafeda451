"""Prints how many of the compiler's lines are C++ and fails at 10 % or more.

Usage: cplusplus_share.py ROOT [PERCENT]. Counted are the lines that are not blank, comments included, of the .c .h .def
and .cpp files in dialects/, lib/ and tools/. C++ are the .cpp files and every header that includes a C++ header.
Before the first lowering (lib/conversion) there is no compiler to take a share of: the numbers are printed only.
"""
import glob
import os
import re
import sys

CPLUSPLUS = re.compile(r'^\s*#\s*include\s*["<]((mlir|llvm)/[^">]+|[a-z_]+)[">]', re.M)


def lines(root):
    """(lines of C, lines of C++) under root."""
    counts = {True: 0, False: 0}
    for room in ("dialects", "lib", "tools"):
        for path in glob.glob(os.path.join(root, room, "**", "*"), recursive=True):
            if not path.endswith((".c", ".h", ".def", ".cpp")):
                continue
            with open(path, encoding="utf-8") as file:
                text = file.read()
            is_cplusplus = path.endswith(".cpp") or bool(CPLUSPLUS.search(text))
            counts[is_cplusplus] += sum(1 for line in text.split("\n") if line.strip())
    return counts[False], counts[True]


def main(root, percent="10"):
    c, cplusplus = lines(root)
    share = 100 * cplusplus / max(1, c + cplusplus)
    print(f"C: {c} lines, C++: {cplusplus} lines, share of C++: {share:.1f} % (must be under {percent} %)")
    is_compiler = bool(glob.glob(os.path.join(root, "lib", "conversion", "*", "*.c")))
    return 1 if is_compiler and not share < float(percent) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""Checks the one accent of the C sources: forms that the house decided once, so that no file needs a second one.

Usage: accent_laws.py ROOT         check that tree; prints one line per breach, exits 1 if there is any
       accent_laws.py --self-test  break each law once in a line and see that just that breach is found

Each law of lines is a regular expression that no line of C may match, with the sentence that says what to write
instead. Besides, a file includes each header once, a folder has at most 42 entries (a listing that fits a screen), and
git tracks nothing that a profiler, an editor or a crash left behind.
"""
import os
import re
import subprocess
import sys

LAWS = [
    (r"^\s*[A-Za-z_][\w.>\[\]-]*(\+\+|--);", "write ++i, not i++, as a statement", "  count++;"),
    (r"\bfor \(.*;[^;]*[;,] *[A-Za-z_][\w.>\[\]-]*(\+\+|--)\)", "write ++i, not i++, in a for loop",
     "  for (int i = 0; i < n; i++)"),
    (r"^\s*///|\s///<", "comments begin with //, not ///", "/// Doubles x."),
    (r"^// -{3,}|^// ={3,}", "a section is marked by //===--- name ---===//", "// --- helpers ---"),
    (r"!(?!llvm|tt\b)\w[\w.>\[\]-]*\.ptr\b|\.ptr (\?|!=|==|&&|\|\|)|\b(if|while) \([^=]*\.ptr\)$", "test for null by mlirXIsNull, not by .ptr",
     "  if (!value.ptr)"),
    (r"==\s*(NULL|nullptr)\b|\b(NULL|nullptr)\s*[!=]=", "test for null by !pointer, not by == NULL", "  bool isNone = first == NULL;"),
    (r"\b(if|while) \((?!.*==).*!= NULL|!= NULL\s*(&&|\|\||\?)|(&&|\|\|) [^;?]*!= NULL|\bCHECK\(\w+ != NULL",
     "a pointer is a condition as it is; != NULL only makes a bool of one that is returned, kept or passed on",
     "  if (first != NULL)"),
    (r"^\s*goto \w+;|[;{)] goto \w+;", "leave a function by return, or carry the status to one exit, not by goto",
     "    goto done;"),
    (r"^#ifndef \w+_H_?$", "a header begins with #pragma once, not with an include guard", "#ifndef TESSERA_IR_BUILDER_H"),
    (r"\b\w*MaxRank = \d", "derive a limit of ranks from TESSERA_MAX_RANK or TILE_LAYOUT_MAX_AXES",
     "enum { MaxRank = 16 };"),
    (r'"[^"]*\b(tile|convert|sparse)-[a-z-]+\{[^"]*%', "give a pass its options in a table or by the op's attributes, not by printing a pipeline",
     '  snprintf(text, sizeof text, "tile-plan-shared-memory{chip=%s}", chip);'),
    (r"realloc\(.*(apacity|\bmax\w+) \* sizeof", "grow arrays by tessera_grow (lib/support/grow.h)",
     "    list->items = realloc(list->items, (size_t)list->capacity * sizeof *list->items);"),
]
SKIPPED_FOLDER = re.compile(r"^(\.git|\.venv|build.*|Output|__pycache__|generated|shared)$")


MOST_ENTRIES = 42


def folders_of(root):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not SKIPPED_FOLDER.match(name))
        yield folder, folders, files


# Profiles, cores, what patch and editors leave, logs.
STRAY = re.compile(r"(^|/)(perf\.data.*|callgrind\.out.*|cachegrind\.out.*|core(\.\d+)?|nohup\.out|[^/]*\.(perf|orig|rej|log|swp|pyc))$|~$")


def stray(paths):
    return [path for path in paths if STRAY.search(path)]


def tracked(root):
    """What git tracks; nothing where the tree is no checkout, as in the scratch copies of the how-tos."""
    listing = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True)
    return listing.stdout.splitlines()


def crowded(count):
    return count > MOST_ENTRIES


def sources(root):
    for folder, _, files in folders_of(root):
        for name in sorted(files):
            if name.endswith((".c", ".h", ".cpp")):
                yield os.path.join(folder, name)


# Tables (.def, .inc) are included as often as they are read.
INCLUDE = re.compile(r'^#include ["<][^">]+\.(?:h|hpp)[">]')


def repeated_includes(text):
    """The include lines that stand in a file a second time."""
    found = [line for line in text.splitlines() if INCLUDE.match(line)]
    return [line for i, line in enumerate(found) if line in found[:i]]


def breaches_of(line):
    """The sentences of the laws that a line breaks."""
    return [sentence for pattern, sentence, _ in LAWS if re.search(pattern, line)]


def check(root):
    count = 0
    for folder, folders, files in folders_of(root):
        if crowded(len(folders) + len(files)):
            print(f"{os.path.relpath(folder, root)}: {len(folders) + len(files)} entries; at most {MOST_ENTRIES} are accepted")
            count += 1
    for path in stray(tracked(root)):
        print(f"{path}: a tool left this file behind; remove it from git")
        count += 1
    for path in sources(root):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for line in repeated_includes(text):
            print(f"{os.path.relpath(path, root)}: {line} stands there twice")
            count += 1
        for number, line in enumerate(text.splitlines(), 1):
            for sentence in breaches_of(line):
                print(f"{os.path.relpath(path, root)}:{number}: {sentence}")
                count += 1
    return count


def self_test():
    right = sum(breaches_of(example) == [sentence] for _, sentence, example in LAWS)
    right += repeated_includes('#include "a.h"\n#include "b.def"\n#include "b.def"\n#include "a.h"\n') == ['#include "a.h"']
    right += crowded(MOST_ENTRIES + 1) and not crowded(MOST_ENTRIES)
    right += stray(["det.perf", "lib/core.c", "lib/a/core", "dev", "docs/log.md", "x/a.c~"]) == ["det.perf", "lib/a/core", "x/a.c~"]
    print(f"self-test: {right} of {len(LAWS) + 3} laws judged rightly")
    return right != len(LAWS) + 3


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1] == "--self-test" else 1 if check(sys.argv[1]) else 0)

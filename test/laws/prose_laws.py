"""Checks the prose: plain technical English in Markdown pages and in C comments.

Usage: prose_laws.py ROOT         check that tree; prints one line per breach, exits 1 if there is any
       prose_laws.py --self-test  break each law once and see that just that breach is found

In Markdown, outside code blocks and tables:
1. columns:    a line has at most 120 columns, unless it is one word that cannot be broken.
2. paragraph:  a paragraph or list item has at most 80 words.
3. opening:    no sentence begins with "Of " or "The same ".
4. link:       a link to a file of the tree leads to an existing file and heading.
   path:       a path of the tree in backticks is that of a file, except in pages that walk through new files.
5. phrase:     no clause begins with "of which" ("parts, of which one …" is "parts; one part …").
In C, outside generated code: laws 3 and 5 for comments, and
6. diagnostic: no text says "want" or "wants"; it says what is expected, required or accepted.
NOT_YET lists the files that nobody has rewritten yet. The list only shrinks: a listed file that keeps the laws is an
error as well.
"""
import glob
import os
import re
import sys

MAX_COLUMNS, MAX_WORDS = 120, 80
OPENING = re.compile(r"(?:^|(?<=[.:;!?] ))(Of|The same) (?=[a-z`(\[*])")
OF_WHICH = re.compile(r"\b(?<!which register )(?<!which element )(?<!which line )(?<!which lane )(?<!which source register )of whi(?:ch|om)\b")
PATH = re.compile(r"`((?:lib|test|docs|examples|tools|dialects|python)/[\w./*-]*)(?= |`)")
WALKS = re.compile(r"how-to-add-|your-own-pass|benchmarks/")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
LINK = re.compile(r"\]\(([^)\s]+)\)")
SKIPPED_FOLDER = re.compile(r"^(\.git|\.venv|build.*|Output|__pycache__|generated|shared)$")
NOT_YET = [
    "lib/transforms/memory/host_buffers.c",
    "lib/transforms/memory/host_buffers.h",
]


def paragraphs(text):
    """Yields (line number, text) of paragraphs and list items, and lines of code blocks and tables are left out."""
    block, start, fenced = [], 0, False
    for number, line in enumerate(text.split("\n") + [""], 1):
        stripped = line.strip()
        if stripped.startswith("```"):
            fenced = not fenced
        starts = fenced or not stripped or stripped.startswith(("```", "|", "#")) or re.match(r"([-*]|\d+\.) ", stripped)
        if starts and block:
            yield start, " ".join(block)
            block = []
        if not fenced and stripped and not stripped.startswith(("```", "|", "#")):
            start = start if block else number
            block.append(stripped)


def anchor_of(heading):
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.lstrip("#").strip().lower())
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def anchors_of(text):
    return {anchor_of(line) for line in text.split("\n") if line.startswith("#")}


def link_breaches(text, exists):
    """exists(path): the text of that file of the tree relative to the page, or None."""
    for number, paragraph in list(paragraphs(text)) + [(n, l) for n, l in enumerate(text.split("\n"), 1) if l.startswith("|")]:
        for target in LINK.findall(re.sub(r"`[^`]*`", "", paragraph)):
            path, _, anchor = target.partition("#")
            if "://" in target:
                continue
            found = exists(path) if path else text
            if found is None:
                yield number, f"link: no file {path}"
            elif anchor and anchor not in anchors_of(found):
                yield number, f"link: no heading #{anchor} in {path or 'this page'}"


def path_breaches(text, exists=lambda path: False):
    for number, paragraph in paragraphs(text):
        for path in PATH.findall(paragraph):
            if not path.startswith("docs/generated") and not re.search(r"NAME|FORM", path) and not exists(path):
                yield number, f"path: no file {path}"


def page_breaches(text, exists=lambda path: ""):
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        fenced ^= line.strip().startswith("```")
        if not fenced and not line.lstrip().startswith("|") and len(line) > MAX_COLUMNS and " " in line.strip():
            yield number, f"columns: {len(line)}; accepts at most {MAX_COLUMNS}"
    for number, paragraph in paragraphs(text):
        if len(paragraph.split()) > MAX_WORDS:
            yield number, f"paragraph: {len(paragraph.split())} words; accepts at most {MAX_WORDS}"
        for opening in OPENING.findall(re.sub(r"^(?:[-*]|\d+\.) ", "", paragraph)):
            yield number, f"opening: a sentence begins with '{opening}'; name the subject"
        if OF_WHICH.search(paragraph):
            yield number, "phrase: a clause begins with 'of which'; begin a sentence with its subject"
    yield from link_breaches(text, exists)


def comment_breaches(text):
    for number, line in enumerate(text.split("\n"), 1):
        comment = re.search(r"(?:^|\s)// ?(.*)", line)
        for opening in OPENING.findall(comment.group(1)) if comment else []:
            if not continues(text.split("\n"), number - 1, comment.group(1), opening):
                yield number, f"opening: a sentence begins with '{opening}'; name the subject"
        if comment and OF_WHICH.search(comment.group(1)):
            yield number, "phrase: a clause begins with 'of which'; begin a sentence with its subject"


def text_breaches(text):
    for number, line in enumerate(text.split("\n"), 1):
        if not line.lstrip().startswith("//") and any(re.search(r"\bwants?\b", string) for string in STRING.findall(line)):
            yield number, "diagnostic: a text says 'want'; say what is expected, required or accepted"


def continues(lines, index, comment, opening):
    """A comment line that begins with the opening may continue the sentence of the line before."""
    before = re.search(r"(?:^|\s)// ?(.*)", lines[index - 1]) if index else None
    return bool(comment.startswith(opening) and before and not re.search(r"[.:;!?]$", before.group(1).strip()))


def files(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not SKIPPED_FOLDER.match(name))
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.endswith(".md") or name.endswith((".c", ".h", ".cpp", ".def")):
                yield path


def read(path):
    if os.path.isdir(path):
        return ""
    if not os.path.isfile(path):
        return None
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def check(root):
    breaches = {}
    for path in files(root):
        name, text, folder = os.path.relpath(path, root), read(path), os.path.dirname(path)
        found = page_breaches(text, lambda link, folder=folder: read(os.path.join(folder, link))) \
            if name.endswith(".md") else [*comment_breaches(text), *text_breaches(text)]
        if name.endswith(".md") and not WALKS.search(name):
            found = [*found, *path_breaches(text, lambda path: any(glob.glob(os.path.join(root, path + end)) for end in ("", ".*")))]
        breaches[name] = list(found)
    count = 0
    for name, found in breaches.items():
        for number, sentence in found if name not in NOT_YET else []:
            print(f"{name}:{number}: {sentence}")
            count += 1
    for name in NOT_YET:
        if not breaches.get(name):
            print(f"{name}: keeps the laws; delete it from NOT_YET")
            count += 1
    return count


EXAMPLES = [
    (page_breaches, "word " * 25, "columns"),
    (page_breaches, "\n".join(["word " * 20] * 5), "paragraph"),
    (page_breaches, "Tiles fit. Of these the largest wins.", "opening"),
    (page_breaches, "- The same holds.", "opening"),
    (page_breaches, "See [here](#nowhere).", "link"),
    (comment_breaches, "int x; // Of the two the first", "opening"),
    (comment_breaches, "// The same for rows.", "opening"),
    (comment_breaches, "// Two parts, of which one is exact.", "phrase"),
    (page_breaches, "Two parts, of which one is exact.", "phrase"),
    (comment_breaches, "// Says which register of which lane holds it: of which none is free.", "phrase"),
    (path_breaches, "See `lib/nowhere.c`.", "path"),
    (text_breaches, 'fail("rank is %d, want 2", rank);', "diagnostic"),
]
RIGHT = [
    (page_breaches, "```\n" + "x" * 200 + "\n```\n| " + "cell " * 90 + "|\n\nOfficers agree. [Here](#there).\n# There\n"),
    (comment_breaches, "// The sum\n// Of parts that\n// fit. Often.\nprintf(\"Of course\");"),
    (text_breaches, "// What callers \"want\".\nint want = 2; puts(\"unwanted\");"),
]


def self_test():
    right = sum([sentence.split(":")[0] for _, sentence in law(text)] == [word] for law, text, word in EXAMPLES)
    right += sum(not list(law(text)) for law, text in RIGHT)
    print(f"self-test: {right} of {len(EXAMPLES) + len(RIGHT)} cases judged rightly")
    return right != len(EXAMPLES) + len(RIGHT)


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1] == "--self-test" else 1 if check(sys.argv[1]) else 0)

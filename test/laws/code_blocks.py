"""Prints the fenced code blocks of one language in a Markdown file, so that tests can compile what the docs show.

Usage: code_blocks.py FILE.md LANGUAGE [NUMBER]   all of them, or only the NUMBERth (from 1). Exits 1 if there is none.
"""
import re
import sys


def main(path, language, number=None):
    with open(path, encoding="utf-8") as file:
        blocks = re.findall(rf"^```{re.escape(language)}\n(.*?)^```$", file.read(), re.M | re.S)
    chosen = blocks if number is None else blocks[int(number) - 1 : int(number)]
    print("\n".join(chosen))
    return 0 if chosen else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""Checks that what a page shows of files is what they say. Use: shown_files.py PAGE FOLDER

A fenced block after a line that begins with "`FILE`" must stand in FOLDER/FILE, line by line; a line "…" stands for any lines."""
import re
import sys
from pathlib import Path

page, folder = Path(sys.argv[1]), Path(sys.argv[2])
shown = re.findall(r"^`([\w./-]+)`[^\n]*\n\n```\w*\n(.*?)^```$", page.read_text(), re.M | re.S)
for name, block in shown:
    text = (folder / name).read_text()
    for piece in re.split(r"^ *…\n", block, flags=re.M):
        if piece.strip() and piece not in text:
            sys.exit(f"{page.name} shows of {name} what does not stand there:\n{piece}")
        text = text[text.index(piece) + len(piece):] if piece.strip() else text
if not shown:
    sys.exit(f"{page.name} shows no file")
print(f"{len(shown)} files are shown as they are")

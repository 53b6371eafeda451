"""Runs a program with its errors going to a pipe, then to a terminal, and prints what came. Use: progress.py TOOL FILE [FLAG...]"""
import os
import pty
import re
import subprocess
import sys

command = [*sys.argv[1:], "--timeout=2.5"]
for line in subprocess.run(command, capture_output=True, text=True).stderr.splitlines():
    print("pipe:", line)
ours, theirs = pty.openpty()
process = subprocess.Popen(command, stderr=theirs)
os.close(theirs)
seen = b""
try:
    while part := os.read(ours, 4096):
        seen += part
except OSError:  # what Linux says when the other end is closed
    pass
process.wait()
for line in re.split(r"[\r\n]+", seen.decode().replace("\x1b[K", "")):
    if line:
        print("terminal:", line)

"""Runs a program with its errors going to a pipe, then to a terminal, and prints what came. Use: progress.py TOOL FILE [FLAG...]"""
import os
import pty
import re
import subprocess
import sys

command = sys.argv[1:]
for line in subprocess.run([*command, "--timeout=1.5"], capture_output=True, text=True).stderr.splitlines():
    print("pipe:", line)
ours, theirs = pty.openpty()
process = subprocess.Popen([*command, "--timeout=4.5"], stderr=theirs)
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

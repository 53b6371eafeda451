"""Runs a command with --timeout=1, 4, 16, 64 until its message has the words: a busy machine needs longer to get there.

Use: timeouts.py WORDS COMMAND [ARGUMENT...]. Prints the last message; exit status 1 if it never had them.
"""
import subprocess
import sys

words, *command = sys.argv[1:]
for seconds in (1, 4, 16, 64):
    message = subprocess.run([*command, f"--timeout={seconds}"], capture_output=True, text=True).stderr
    if words in message:
        break
print(message, end="")
sys.exit(words not in message)

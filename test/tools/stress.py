"""Runs commands that start children over and over beside busy processes: none may hang, and each must end as it did at first.

Use: stress.py TIMES LIMIT COMMAND... (one command an argument, for the shell). LIMIT: seconds of the clock for one run. Prints
"N runs, 0 late, 0 different".
"""
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

times, limit, commands = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
cores = os.cpu_count() or 1
late, different = [], []


def run(command):
    """The exit status; None when it is late. All its processes are in a session of their own."""
    child = subprocess.Popen(["sh", "-c", command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        return child.wait(limit)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, 9)
        child.wait()
        return None


def again(number, command, first):
    status = run(command)
    if status is None:
        late.append(number)
        print(f"run {number}: late: {command}", flush=True)
    elif status != first:
        different.append(number)
        print(f"run {number}: ended with {status}, at first with {first}: {command}", flush=True)


busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"], preexec_fn=lambda: os.nice(5)) for _ in range(2 * cores)]
try:
    first = {command: run(command) for command in commands}
    with ThreadPoolExecutor(2 * cores) as pool:
        for number in range(times):
            command = commands[number % len(commands)]
            pool.submit(again, number, command, first[command])
finally:
    for process in busy:
        process.kill()
        process.wait()
print(f"{times} runs, {len(late)} late, {len(different)} different")
sys.exit(bool(late or different or None in first.values()))

"""Rewrites the text of the one entry in a cache folder, with a right checksum. Use: hostile_cache.py FOLDER KIND"""
import sys
from pathlib import Path

folder, kind = Path(sys.argv[1]), sys.argv[2]


def fnv(data):
    value = 0xcbf29ce484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return value


entry = next(folder.glob("*.cache"))
_, _, key_size, _, rest = entry.read_bytes().split(b"\n", 4)
key, old = rest[:int(key_size)], rest[int(key_size):]
time, schedule = old.splitlines()[0].split(b" ", 1)
text = {
    "deep": time + b" " + b"[" * 20000 + b"\n",
    "nan": b"nan " + schedule + b"\n",
    "digits": b"1" * 40 + b" " + schedule + b"\n",
    "split": time + b" " + schedule.replace(b"block = [", b"split = 1000, block = [") + b"\n",
    "register": time + b" #tile.schedule<kind = \"product\", block = [256, 256, 256], register = [256, 256]>\n",
    "other": time + b" 5 : i64\n",
    "kept": old,
}[kind]
assert kind == "kept" or text != old
entry.write_bytes(b"tessera cache 1\n%016x\n%d\n%d\n" % (fnv(key + b"\0" + text + b"\0"), len(key), len(text)) + key + text)

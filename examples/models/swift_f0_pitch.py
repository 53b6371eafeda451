"""The pitch of a voice or an instrument, 62 times a second: swift-f0 runs by Tessera.

    pip install swift-f0; PYTHONPATH=python python examples/models/swift_f0_pitch.py [FILE.wav]

Without a file: three tones with overtones, of 220, 330 and 440 Hz.
"""
import sys

import session
import numpy as np
from swift_f0 import SwiftF0

RATE = 16000
if len(sys.argv) > 1:
    import soundfile
    sound, RATE = soundfile.read(sys.argv[1])
else:
    at = np.arange(RATE) / RATE
    sound = np.concatenate([sum(np.sin(2 * np.pi * tone * k * at) / k for k in range(1, 6)) / 4 for tone in (220, 330, 440)])
result = SwiftF0().detect(sound.astype("f4"), RATE)
pitch = np.asarray(result.pitch_hz)
for part in np.array_split(pitch, 3):
    print(f"{np.median(part[np.isfinite(part)]):.1f} Hz")
print("fallback_ops", session.fallbacks())

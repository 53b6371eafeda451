"""Where is speech in this sound? silero-vad finds the stretches; its LSTM runs by Tessera.

    pip install silero-vad; PYTHONPATH=python python examples/models/silero_speech.py [FILE.wav]

Without a file the sound is made here: a second of hum, then syllables (a buzz through three moving resonances), then hum.
"""
import sys
import wave

import session
import numpy as np
import torch
from scipy.signal import lfilter
from silero_vad import get_speech_timestamps, load_silero_vad

RATE = 16000


def syllables(seconds):
    at = np.arange(int(seconds * RATE)) / RATE
    buzz = np.diff(np.floor(np.cumsum(120 + 20 * np.sin(5 * at)) / RATE), prepend=0)
    loud = np.maximum(np.sin(2 * np.pi * 3 * at), 0)
    for low, high in ((400, 750), (1100, 1700), (2400, 2600)):
        for begin in range(0, len(buzz), 400):  # a resonance that moves with the syllables
            angle = 2 * np.pi * (low + (high - low) * loud[begin]) / RATE
            buzz[begin:begin + 400] = lfilter([1], [1, -2 * 0.97 * np.cos(angle), 0.94], buzz[begin:begin + 400])
    return buzz / np.abs(buzz).max() * loud


def sound():
    if len(sys.argv) > 1:
        with wave.open(sys.argv[1]) as file:
            return np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32768
    hum = 0.01 * np.sin(2 * np.pi * 50 * np.arange(RATE) / RATE)
    return np.concatenate([hum, 0.5 * syllables(2), hum])


model = load_silero_vad(onnx=True)
samples = torch.tensor(sound(), dtype=torch.float32)
for stretch in get_speech_timestamps(samples, model, sampling_rate=RATE, threshold=0.3, return_seconds=True):
    print(f"speech from {stretch['start']} s to {stretch['end']} s")
levels = model.audio_forward(samples[None], RATE)
print(f"probability of speech: first second {levels[0, :30].mean():.3f}, then {levels[0, 35:90].mean():.3f}")
print("fallback_ops", session.fallbacks())

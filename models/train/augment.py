"""What chance does to a phrase: breaks it off, stretches it, puts silence around it, hides parts."""

import numpy as np

from labels import STATE_SAMPLES
from mel import HOP_SAMPLES, SAMPLE_RATE, log_mel


def broken_off(chance, one, wave):
    """One phrase in eight ends after some of its words: the text so far, without a final sign."""
    words, text = one["words"], one["text"]
    if len(words) > 2 and chance.random() < 0.13:
        place, at = words[int(chance.integers(1, len(words)))]
        so_far = text[:place].rstrip(" ,¿")
        at = int(at + chance.uniform(-0.02, 0.03) * SAMPLE_RATE)
        if len(so_far) and 1600 < at < len(wave):
            return so_far, wave[:at], True
    return text, wave, False


def at_pace(wave, pace):
    count = int(len(wave) / pace)
    return np.interp(np.arange(count) * pace, np.arange(len(wave)), wave).astype(np.float32)


def silences(chance, is_cut):
    """Samples of silence before and after; little after a phrase that was broken off."""
    lead = chance.choice([chance.uniform(0.02, 0.35), chance.uniform(0.02, 0.9)], p=[0.8, 0.2])
    if is_cut and chance.random() < 0.7:
        tail = chance.uniform(0, 0.1)
    else:
        tail = chance.choice([chance.uniform(0.05, 0.4), chance.uniform(0.05, 0.8)], p=[0.8, 0.2])
    return int(lead * SAMPLE_RATE), int(tail * SAMPLE_RATE)


def window_for(chance, longest):
    """Some silence after the longest, now and then much of it; a whole number of states."""
    extra = chance.choice([0, 0, 0, 0, 0.5, 2]) * SAMPLE_RATE * chance.random()
    return -(-int(longest + extra) // STATE_SAMPLES) * STATE_SAMPLES


def padded_mel(wave, window):
    padded = np.zeros(window, np.float32)
    padded[: len(wave)] = wave[:window]
    return log_mel(padded)


def masked(chance, mel, samples):
    """SpecAugment: hides a band and a moment, three times in ten."""
    if chance.random() < 0.3:
        low = chance.integers(0, 66)
        mel[low : low + chance.integers(2, 14)] = mel.mean()
        start = chance.integers(0, max(1, samples // HOP_SAMPLES))
        mel[:, start : start + chance.integers(2, 12)] = mel.mean()
    return mel


def decibels(value):
    return 10 ** (value / 20)

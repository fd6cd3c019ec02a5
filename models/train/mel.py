"""Whisper's log-mel features."""

import numpy as np

SAMPLE_RATE = 16000
FFT_SAMPLES = 400
HOP_SAMPLES = 160
MELS = 80


def hz_to_mel(hz):
    """Slaney's scale: linear up to 1 kHz, logarithmic above."""
    hz = np.asarray(hz, float)
    linear = hz / (200 / 3)
    logarithmic = 15 + np.log(np.maximum(hz, 1e-9) / 1000) / (np.log(6.4) / 27)
    return np.where(hz >= 1000, logarithmic, linear)


def mel_to_hz(mel):
    mel = np.asarray(mel, float)
    return np.where(mel >= 15, 1000 * np.exp((np.log(6.4) / 27) * (mel - 15)), mel * 200 / 3)


def mel_filters(count=MELS):
    """Triangles of equal area: float32 [count, 201]."""
    bins_hz = np.linspace(0, SAMPLE_RATE / 2, FFT_SAMPLES // 2 + 1)
    points_hz = mel_to_hz(np.linspace(hz_to_mel(0), hz_to_mel(8000), count + 2))
    widths = np.diff(points_hz)
    ramps = points_hz[:, None] - bins_hz[None]
    rising, falling = -ramps[:-2] / widths[:-1, None], ramps[2:] / widths[1:, None]
    triangles = np.maximum(0, np.minimum(rising, falling))
    return (triangles * (2 / (points_hz[2:] - points_hz[:-2]))[:, None]).astype(np.float32)


FILTERS = mel_filters()
WINDOW = np.hanning(FFT_SAMPLES + 1)[:-1].astype(np.float32)


def log_mel(wave):
    """float32 [n] at 16 kHz to float32 [80, n / 160]. The whole, padded, window is normalised, as Whisper does."""
    count = len(wave) // HOP_SAMPLES
    padded = np.pad(wave, FFT_SAMPLES // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, FFT_SAMPLES)[::HOP_SAMPLES][:count]
    spectrum = np.fft.rfft(frames * WINDOW, axis=1)
    mel = FILTERS @ (np.abs(spectrum) ** 2).astype(np.float32).T
    logs = np.log10(np.maximum(mel, 1e-10))
    logs = np.maximum(logs, logs.max() - 8)
    return ((logs + 4) / 4).astype(np.float32)

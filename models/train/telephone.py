"""A telephone line, simulated: noise, band, and G.711."""

import numpy as np
from scipy.signal import butter, lfilter, resample_poly

SAMPLE_RATE = 16000
NOISES = ["white", "pink", "hum", "brown"]
BAND = butter(2, [250 / 4000, 3500 / 4000], "band")

# Paul Kellet's pink filter.
PINK_B = [0.049922, -0.095993, 0.050612, -0.004408]
PINK_A = [1, -2.494956, 2.017265, -0.522189]


def noise(chance, count, kind=None):
    """float32 [count] with an RMS of 1. `chance` is a numpy Generator."""
    kind = kind or chance.choice(NOISES)
    wave = chance.standard_normal(count).astype(np.float32)
    if kind == "pink":
        wave = lfilter(PINK_B, PINK_A, wave)
    if kind == "brown":
        wave = lfilter([1], [1, -0.97], wave)
    if kind == "hum":
        seconds = np.arange(count) / SAMPLE_RATE
        wave = 0.15 * wave + sum(
            np.sin(2 * np.pi * chance.choice([50, 60]) * k * seconds + chance.random() * 6) / k
            for k in (1, 2, 3, 5)
        )
    return (wave / (np.sqrt(np.mean(wave**2)) + 1e-9)).astype(np.float32)


def mu_law(wave):
    """Through G.711's curve and back, 8 bits in between."""
    mu = 255.0
    pressed = np.sign(wave) * np.log1p(mu * np.abs(wave)) / np.log1p(mu)
    steps = np.round((pressed + 1) * 127.5) / 127.5 - 1
    return np.sign(steps) * (np.power(1 + mu, np.abs(steps)) - 1) / mu


def line(wave, chance, band=None):
    """16 kHz in, 16 kHz out: three times in four through a G.711 telephone path."""
    band = band or chance.choice(["tel", "tel", "tel", "wide"])
    if band == "wide":
        return wave
    narrow = resample_poly(wave, 1, 2)
    if chance.random() < 0.5:
        narrow = lfilter(*BAND, narrow)
    narrow = mu_law(np.clip(narrow, -1, 1))
    if chance.random() < 0.85:
        return resample_poly(narrow, 2, 1)[: len(wave)].astype(np.float32)
    return doubled_cheaply(narrow)[: len(wave)]


def doubled_cheaply(narrow):
    """Twice the rate by straight lines, as cheap equipment does."""
    wide = np.empty(2 * len(narrow), np.float32)
    wide[::2] = narrow
    wide[1:-1:2] = (narrow[:-1] + narrow[1:]) / 2
    wide[-1] = narrow[-1]
    return wide

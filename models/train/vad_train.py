"""Trains a tiny voice activity model with exactly Silero v5's interface.

    python3 vad_train.py ../tiny/vad/silero_shaped.onnx --minutes 4

Interface: `input` float32 [B, 576] (the last 64 samples of the window before, then 512; 16 kHz), `state`
float32 [2, B, 128], `sr` int64; gives `output` float32 [B, 1], the chance of speech, and `stateN`.
"""

import argparse
import io
import math
import time

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from torch import nn

from dataset import PhraseData
from mel import SAMPLE_RATE
from telephone import line
from vocabulary import Vocabulary

CONTEXT_SAMPLES = 64
WINDOW_SAMPLES = 512
STATE_WIDTH = 128
FFT_SAMPLES = 256
LEARNING_RATE = 4e-3

# Bins below 4 kHz: the telephone's band.
BINS = np.r_[2:62]

TONES_HZ = [350, 440, 480, 620, 697, 770, 852, 941, 1209, 1336, 1477]
SECOND_TONES_HZ = [440, 1209, 1336, 1477]


class Vad(nn.Module):
    """Energies of 12 bands in 3 hops, a small layer, and a gated memory in state[0][:, :24].

    state[1], and the rest of state[0], are passed through.
    """

    def __init__(self, bands=12, hidden=24):
        super().__init__()
        self.hidden = hidden
        self.dft = nn.Parameter(fourier_kernels(), requires_grad=False)
        self.band = nn.Parameter(band_weights(bands), requires_grad=False)
        self.f = nn.Linear(bands * 3, hidden)
        self.z = nn.Linear(hidden * 2, hidden)
        self.c = nn.Linear(hidden * 2, hidden)
        self.o = nn.Linear(hidden, 1)

    def forward(self, x, state, sr):
        spectrum = F.conv1d(x[:, None], self.dft, stride=160)
        power = spectrum[:, : len(BINS)] ** 2 + spectrum[:, len(BINS) :] ** 2
        energy = torch.log(torch.einsum("bf,nft->nbt", self.band, power) + 1e-7) * 0.2 + 1.2
        memory = state[0][:, : self.hidden]
        features = F.relu(self.f(energy.reshape(x.shape[0], -1)))
        joined = torch.cat([features, memory], 1)
        gate = torch.sigmoid(self.z(joined))
        memory = (1 - gate) * memory + gate * torch.tanh(self.c(joined))
        # `sr` has no effect, but must be an input.
        chance = torch.sigmoid(self.o(memory)) + 0.0 * sr.to(torch.float32)
        first = torch.cat([memory, state[0][:, self.hidden :]], 1)
        return chance, torch.stack([first, state[1]])


def fourier_kernels():
    """A windowed Fourier transform as a convolution: float32 [2 * bins, 1, 256]."""
    bins = np.arange(FFT_SAMPLES // 2 + 1)
    window = np.hanning(FFT_SAMPLES + 1)[:-1]
    angles = 2 * np.pi * bins[:, None] * np.arange(FFT_SAMPLES) / FFT_SAMPLES
    kernels = np.concatenate([(np.cos(angles) * window)[BINS], (np.sin(angles) * window)[BINS]])
    return torch.tensor(kernels[:, None], dtype=torch.float32)


def band_weights(bands):
    """Means over bands that widen with frequency: float32 [bands, bins]."""
    edges = np.round(np.geomspace(2, 62, bands + 1)).astype(int)
    edges = np.maximum.accumulate(np.maximum(edges, np.arange(bands + 1) + 2))
    weights = np.zeros((bands, len(BINS)), np.float32)
    for band in range(bands):
        low, high = edges[band], edges[band + 1]
        weights[band, low - 2 : high - 2] = 1 / max(1, high - low)
    return torch.tensor(weights)


def make_batch(data, chance, size=24, windows=80):
    """Lines with speech, noise, tones and clicks: float32 [size, 64 + windows * 512], and 1 for each
    window in which most is speech: float32 [size, windows]."""
    count = windows * WINDOW_SAMPLES
    sounds = np.zeros((size, count + CONTEXT_SAMPLES), np.float32)
    targets = np.zeros((size, windows), np.float32)
    for row in range(size):
        sound = spoken(data, chance, count)
        targets[row] = is_speech(sound)[:count].reshape(windows, -1).mean(1) > 0.5
        snr_db, share = chance.uniform(2, 35), chance.random()
        if share < 0.85:
            sound = sound + data.noise(chance, count) * 10 ** (-snr_db / 20)
        if share > 0.6:
            add_tones_and_clicks(chance, sound)
        sound = sound * 10 ** (-chance.uniform(14, 36) / 20)
        clipped = np.clip(sound, -1, 1).astype(np.float32)
        sounds[row, CONTEXT_SAMPLES:] = line(clipped, chance)
    return torch.from_numpy(sounds), torch.from_numpy(targets)


def spoken(data, chance, count):
    """Phrases with pauses between them; nothing one time in eight."""
    sound = np.zeros(count, np.float32)
    at = int(chance.uniform(0, 1.2) * SAMPLE_RATE)
    if chance.random() < 0.88:
        while at < count - 4000:
            wave = data.audio(chance.integers(len(data.manifest)))
            wave = (wave / (np.sqrt(np.mean(wave**2)) + 1e-6))[: count - at]
            sound[at : at + len(wave)] += wave
            pause = chance.choice([chance.uniform(0.05, 0.3), chance.uniform(0.3, 2.0)])
            at += len(wave) + int(pause * SAMPLE_RATE)
    return sound


def is_speech(sound):
    """Where there is energy; gaps of up to 100 ms, such as before a "t", belong to it."""
    level = np.sqrt(np.convolve(sound**2, np.ones(800) / 800, "same"))
    return np.convolve(level > 0.08, np.ones(1600), "same") > 0


def add_tones_and_clicks(chance, sound):
    """What is loud and is not speech: call tones, DTMF, clicks."""
    for _ in range(chance.integers(0, 4)):
        start = chance.integers(0, len(sound) - 4000)
        length = chance.integers(200, 3800)
        seconds = np.arange(length) / SAMPLE_RATE
        first, second = chance.choice(TONES_HZ), chance.choice(SECOND_TONES_HZ)
        if chance.random() < 0.7:
            tones = np.sin(2 * np.pi * first * seconds) + np.sin(2 * np.pi * second * seconds)
            sound[start : start + length] += tones * chance.uniform(0.05, 1)
        else:
            click = chance.standard_normal(length) * np.exp(-seconds * 60)
            sound[start : start + length] += click * chance.uniform(0.2, 2)


def run(model, sounds, windows):
    """Chances [B, windows], the state handed on from window to window."""
    state, rate = torch.zeros(2, len(sounds), STATE_WIDTH), torch.tensor(SAMPLE_RATE)
    chances = []
    for window in range(windows):
        start = window * WINDOW_SAMPLES
        heard = sounds[:, start : start + CONTEXT_SAMPLES + WINDOW_SAMPLES]
        chance, state = model(heard, state, rate)
        chances.append(chance)
    return torch.cat(chances, 1)


def train(model, data, chance, minutes):
    learned = [weights for weights in model.parameters() if weights.requires_grad]
    optimizer = torch.optim.Adam(learned, lr=LEARNING_RATE)
    started, losses = time.time(), []
    while (passed := (time.time() - started) / 60) < minutes:
        for group in optimizer.param_groups:
            fall = 0.5 + 0.5 * math.cos(math.pi * passed / minutes)
            group["lr"] = LEARNING_RATE * fall + 1e-5
        sounds, targets = make_batch(data, chance)
        loss = F.binary_cross_entropy(run(model, sounds, targets.shape[1]), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if len(losses) % 20 == 0:
            recent = np.mean(losses[-20:])
            print(len(losses), "%.1f min" % passed, "loss %.3f" % recent, flush=True)


def test(model, data):
    chance = np.random.default_rng(7)
    model.eval()
    with torch.no_grad():
        pairs = []
        for _ in range(12):
            sounds, targets = make_batch(data, chance)
            pairs.append((run(model, sounds, targets.shape[1]), targets))
    chances = torch.cat([chances for chances, _ in pairs])
    speech = torch.cat([targets for _, targets in pairs]) > 0.5
    for threshold in (0.3, 0.5, 0.7):
        heard = chances > threshold
        accuracy = (heard == speech).float().mean()
        missed, false = (~heard & speech).sum() / speech.sum(), (heard & ~speech).sum() / (~speech).sum()
        told = "threshold %.1f  accuracy %.3f  missed %.3f  false %.3f"
        print("unseen voices:", told % (threshold, accuracy, missed, false))


def export(model, path):
    data = io.BytesIO()
    example = (
        torch.zeros(2, CONTEXT_SAMPLES + WINDOW_SAMPLES),
        torch.zeros(2, 2, STATE_WIDTH),
        torch.tensor(SAMPLE_RATE),
    )
    torch.onnx.export(
        model,
        example,
        data,
        input_names=["input", "state", "sr"],
        output_names=["output", "stateN"],
        dynamic_axes={
            "input": {0: "batch"},
            "state": {1: "batch"},
            "output": {0: "batch"},
            "stateN": {1: "batch"},
        },
        opset_version=14,
    )
    graph = onnx.load_from_string(data.getvalue())
    graph.ir_version = 8
    onnx.save(graph, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out")
    parser.add_argument("--minutes", type=float, default=4)
    parser.add_argument("--train", default="data/train")
    parser.add_argument("--test", default="data/test")
    parser.add_argument("--words", default="data/asr.pt.words.json")
    options = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(0)
    vocabulary = Vocabulary(path=options.words)
    model = Vad()
    train(
        model, PhraseData(options.train, vocabulary, 32, 1), np.random.default_rng(1), options.minutes
    )
    test(model, PhraseData(options.test, vocabulary, 32, 1))
    export(model, options.out)


if __name__ == "__main__":
    main()

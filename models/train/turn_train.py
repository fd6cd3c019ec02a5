"""Trains a tiny end-of-turn model with Smart Turn v3's interface.

    python3 turn_train.py ../tiny/turn/smart_turn_shaped.onnx --minutes 6

Interface: `input_features` float32 [B, 80, 800] (8 s, the speech at the END, zeros before it; Whisper's
mel of the wave normalised to mean 0 and variance 1); gives `logits` float32 [B, 1], which, as in the
original, is already the probability that the turn is complete.
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
from mel import MELS, SAMPLE_RATE, log_mel
from telephone import line
from vocabulary import Vocabulary

WINDOW_SAMPLES = 8 * SAMPLE_RATE
FRAMES = 800
LEARNING_RATE = 2e-3


class Turn(nn.Module):
    """Looks at the last 4 s only: more does not matter to so small a model."""

    def __init__(self, width=32):
        super().__init__()
        self.a = nn.Conv1d(MELS, width, 5, 2, padding=2)
        self.b = nn.Conv1d(width, width, 5, 2, padding=2)
        self.c = nn.Conv1d(width, width, 5, 2, padding=2)
        self.g = nn.GRU(width, width, batch_first=True)
        self.o = nn.Linear(width, 1)

    def forward(self, mel):
        x = mel[:, :, FRAMES // 2 :]
        for convolution in (self.a, self.b, self.c):
            x = F.relu(convolution(x))
        # `.contiguous()` for the reason that model.py gives.
        _, memory = self.g(x.transpose(1, 2).contiguous())
        return torch.sigmoid(self.o(memory[-1]))


def features(wave):
    """float32 [n] at 16 kHz to float32 [80, 800]."""
    wave = wave[-WINDOW_SAMPLES:]
    wave = np.pad(wave, (WINDOW_SAMPLES - len(wave), 0))
    wave = (wave - wave.mean()) / np.sqrt(wave.var() + 1e-7)
    return log_mel(wave.astype(np.float32))


def make_batch(data, chance, size):
    """Features [size, 80, 800] and targets [size, 1]: whole phrases and broken-off ones by turns."""
    mel = np.empty((size, MELS, FRAMES), np.float32)
    targets = np.empty((size, 1), np.float32)
    row = 0
    while row < size:
        is_complete = row % 2 == 0
        wave = phrase(data, chance, is_complete)
        if wave is None:
            continue
        mel[row] = features(on_the_line(data, chance, wave))
        targets[row] = is_complete
        row += 1
    return torch.from_numpy(mel), torch.from_numpy(targets)


def phrase(data, chance, is_complete):
    """Samples of a phrase; None where it cannot be broken off."""
    index = int(chance.integers(len(data.manifest)))
    one, wave = data.manifest[index], data.audio(index)
    if is_complete:
        return wave
    if len(one["words"]) < 3 or one["lang"] != "en":
        return None
    _, at = one["words"][int(chance.integers(1, len(one["words"])))]
    wave = wave[: int(at + chance.uniform(-0.02, 0.02) * SAMPLE_RATE)]
    return wave if len(wave) >= 2400 else None


def on_the_line(data, chance, wave):
    wave = wave / (np.sqrt(np.mean(wave**2)) + 1e-6)
    before = np.zeros(int(chance.uniform(0.1, 1.0) * SAMPLE_RATE), np.float32)
    after = np.zeros(int(chance.uniform(0.15, 0.6) * SAMPLE_RATE), np.float32)
    sound = np.concatenate([before, wave, after])
    if chance.random() < 0.7:
        sound = sound + data.noise(chance, len(sound)) * 10 ** (-chance.uniform(10, 38) / 20)
    quiet = sound * 10 ** (-chance.uniform(14, 34) / 20)
    return line(np.clip(quiet, -1, 1).astype(np.float32), chance)


def train(model, data, chance, minutes):
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    started, losses = time.time(), []
    while (passed := (time.time() - started) / 60) < minutes:
        for group in optimizer.param_groups:
            fall = 0.5 + 0.5 * math.cos(math.pi * passed / minutes)
            group["lr"] = LEARNING_RATE * fall + 1e-5
        mel, targets = make_batch(data, chance, 32)
        loss = F.binary_cross_entropy(model(mel), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if len(losses) % 50 == 0:
            recent = np.mean(losses[-50:])
            print(len(losses), "%.1f min" % passed, "loss %.3f" % recent, flush=True)


def test(model, data):
    chance = np.random.default_rng(7)
    with torch.no_grad():
        pairs = []
        for _ in range(8):
            mel, targets = make_batch(data, chance, 64)
            pairs.append((model(mel), targets))
    said_complete = torch.cat([chances for chances, _ in pairs]) > 0.5
    is_complete = torch.cat([targets for _, targets in pairs]) > 0.5
    accuracy = (said_complete == is_complete).float().mean()
    too_early = (said_complete & ~is_complete).sum() / (~is_complete).sum()
    needlessly = (~said_complete & is_complete).sum() / is_complete.sum()
    told = "accuracy %.3f  cut off too early %.3f  waited needlessly %.3f"
    print("unseen voices:", told % (accuracy, too_early, needlessly))


def export(model, path):
    data = io.BytesIO()
    torch.onnx.export(
        model,
        (torch.zeros(2, MELS, FRAMES),),
        data,
        input_names=["input_features"],
        output_names=["logits"],
        dynamic_axes={"input_features": {0: "batch"}, "logits": {0: "batch"}},
        opset_version=14,
    )
    graph = onnx.load_from_string(data.getvalue())
    graph.ir_version = 8
    onnx.save(graph, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out")
    parser.add_argument("--minutes", type=float, default=6)
    parser.add_argument("--train", default="data/b/train")
    parser.add_argument("--test", default="data/test")
    parser.add_argument("--words", default="data/asr.pt.words.json")
    options = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(0)
    vocabulary = Vocabulary(path=options.words)
    data = PhraseData(options.train, vocabulary, 32, 1)
    model = Turn()
    train(model, data, np.random.default_rng(1), options.minutes)
    test(model, PhraseData(options.test, vocabulary, 32, 1))
    export(model, options.out)


if __name__ == "__main__":
    main()

"""Decodes held-out phrases and counts the words that are wrong."""

import numpy as np
import torch

from dataset import PhraseData
from mel import SAMPLE_RATE, log_mel
from scoring import edit_distance, words_of
from telephone import line, noise

BATCH = 32


def greedy(model, mel, vocabulary, longest=24):
    """Tokens of each utterance, always the likeliest, in English; and the language it would have chosen.

    mel is float32 [B, 80, F].
    """
    v = vocabulary
    states = model.encoder(mel)
    fed = torch.tensor([[v.start, v.language("en"), v.transcribe, v.no_timestamps]] * len(mel))
    is_done = torch.zeros(len(mel), dtype=torch.bool)
    past = encoder_kv = languages = None
    tokens = []
    for _ in range(longest):
        logits, past, encoder_kv = model.decoder(fed, states, encoder_kv, past)
        if languages is None:
            languages = logits[:, 0].argmax(-1)
        token = logits[:, -1].argmax(-1)
        token[is_done] = v.end
        is_done |= token == v.end
        tokens.append(token)
        fed = token[:, None]
        if is_done.all():
            break
    return torch.stack(tokens, 1).tolist(), languages.tolist()


def heard(data, chance, index, band, snr_db):
    """One phrase with silence around it, at an even level, over the line: float32 [n]."""
    wave = data.audio(index)
    sound = np.zeros(len(wave) + int(0.7 * SAMPLE_RATE), np.float32)
    start = int(0.3 * SAMPLE_RATE)
    sound[start : start + len(wave)] = wave / (np.sqrt(np.mean(wave**2)) + 1e-6)
    if snr_db is not None:
        sound += noise(chance, len(sound), "pink") * 10 ** (-snr_db / 20)
    return line(np.clip(sound * 0.08, -1, 1), chance, band)


def evaluate(model, vocabulary, path, window=None, band="tel", snr_db=None, count=400, shown=0):
    """Word error rate and more, in one line. `window` in samples; None: as long as the longest."""
    data = PhraseData(path, vocabulary, BATCH, 0)
    chance = np.random.default_rng(5)
    edits = words = right = right_language = 0
    misses = []
    model.eval()
    order = sorted(
        range(min(count, len(data.manifest))), key=lambda index: data.manifest[index]["n"]
    )
    with torch.no_grad():
        for start in range(0, len(order), BATCH):
            indexes = order[start : start + BATCH]
            sounds = [heard(data, chance, index, band, snr_db) for index in indexes]
            longest = window or -(-max(map(len, sounds)) // 320) * 320
            mel = np.stack([log_mel(padded(sound, longest)) for sound in sounds])
            tokens, languages = greedy(model, torch.from_numpy(mel), vocabulary)
            for index, ids, language in zip(indexes, tokens, languages):
                one = data.manifest[index]
                said, understood = words_of(one["text"]), words_of(vocabulary.decode(ids))
                distance = edit_distance(said, understood)
                edits, words = edits + distance, words + len(said)
                right += distance == 0
                right_language += language == vocabulary.language(one["lang"])
                if distance:
                    misses.append((one["voice"], one["text"], vocabulary.decode(ids)))
    model.train()
    for miss in misses[:shown]:
        print("   ", miss)
    return "WER %.2f%%  sentences %.1f%%  language %.1f%%  (n=%d)" % (
        100 * edits / words,
        100 * right / len(order),
        100 * right_language / len(order),
        len(order),
    )


def padded(sound, length):
    return np.pad(sound, (0, max(0, length - len(sound))))[:length]

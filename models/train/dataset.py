"""Phrases on a simulated line, in batches, with labels for everything that training looks at.

Samples are counted at 16 kHz. The encoder's states, and so all labels of sound, are 320 samples (20 ms) apart.
"""

import json

import numpy as np
import torch

from augment import at_pace, broken_off, decibels, masked, padded_mel, silences, window_for
from labels import STATE_SAMPLES, mark_spans, numbered, sounding, token_spans, word_at
from mel import HOP_SAMPLES, MELS, SAMPLE_RATE
from scoring import words_of
from telephone import line, noise

WINDOW_SAMPLES = 30 * SAMPLE_RATE

# Label for "no target here".
IGNORED = -1


class Utterance:
    """One phrase on the line: `wave` float32 [n], and where and what the speech in it is."""

    def __init__(self, wave, text, lang, has_speech, start, end, labels, spans):
        self.wave, self.text, self.lang, self.has_speech = wave, text, lang, has_speech
        self.start, self.end = start, end
        # int64 [2, states]: the word, and the phoneme, that sounds in each state; 0 is none.
        self.labels = labels
        # For each token of the text: its states (first, last), or None.
        self.spans = spans


class PhraseData(torch.utils.data.IterableDataset):
    """Endless batches from what gen.py wrote to `path`."""

    def __init__(self, path, vocabulary, batch, seed, limit=10**9):
        with open(path + ".json") as file:
            self.manifest = json.load(file)[:limit]
        self.samples = np.load(path + ".npy", mmap_mode="r")
        self.vocabulary, self.batch_size, self.seed = vocabulary, batch, seed
        self.word_labels = numbered(self.all_words())
        self.phoneme_labels = numbered(
            {phoneme for one in self.manifest for _, phoneme in one["phon"] if phoneme[0] != "_"}
        )
        self.batches_sorted = max(1, min(20, len(self.manifest) // batch))
        self.noises = None

    def all_words(self):
        words = {word for entry in self.vocabulary.words for word in words_of(entry)}
        for one in self.manifest:
            words |= {word_at(one["text"], place) for place, _ in one["words"]}
        return words - {None}

    def audio(self, index):
        one = self.manifest[index]
        return self.samples[one["off"] : one["off"] + one["n"]].astype(np.float32) / 32768

    def noise(self, chance, count):
        """A stretch of one of twelve minutes of noise, made once."""
        if self.noises is None:
            kinds = ("white", "pink", "brown", "hum")
            self.noises = [
                noise(chance, 60 * SAMPLE_RATE, kind) for kind in kinds for _ in range(3)
            ]
        bank = self.noises[chance.integers(len(self.noises))]
        start = chance.integers(0, len(bank) - count)
        return bank[start : start + count]

    def utterance(self, chance, index):
        """One phrase, perhaps broken off or said at another speed, with silence, noise and line around it."""
        one = self.manifest[index]
        text, wave = one["text"], self.audio(index)
        words = [(at, self.word_labels.get(word_at(text, p), 0)) for p, at in one["words"]]
        phonemes = [(at, self.phoneme_labels.get(phoneme, 0)) for at, phoneme in one["phon"]]
        text, wave, is_cut = broken_off(chance, one, wave)
        if chance.random() < 0.4:
            pace = chance.uniform(0.92, 1.08)
            wave = at_pace(wave, pace)
            words = [(at / pace, label) for at, label in words]
            phonemes = [(at / pace, label) for at, label in phonemes]

        lead, tail = silences(chance, is_cut)
        end = lead + len(wave)
        sound = np.zeros(lead + len(wave) + tail, np.float32)
        sound[lead:end] = wave / (np.sqrt(np.mean(wave**2)) + 1e-6)
        has_speech = not chance.random() < 0.04
        if not has_speech:
            sound[:] = 0
        sound = self.on_the_line(chance, sound, has_speech)

        labels = np.zeros((2, len(sound) // STATE_SAMPLES + 1), np.int64)
        spans = []
        if has_speech:
            labels[0] = sounding(words, lead, len(wave), labels.shape[1])
            labels[1] = sounding(phonemes, lead, len(wave), labels.shape[1])
            characters = [place for place, _ in one["words"]]
            spans = token_spans(text, words, characters, lead, len(wave))
        return Utterance(sound, text, one["lang"], has_speech, lead, end, labels, spans)

    def on_the_line(self, chance, sound, has_speech):
        if chance.random() < 0.1:
            self.add_babble(chance, sound)
        if chance.random() < 0.7 or not has_speech:
            sound += self.noise(chance, len(sound)) * decibels(-chance.uniform(4, 38))
        sound *= decibels(-chance.uniform(14, 34))
        return line(np.clip(sound, -1, 1).astype(np.float32), chance).astype(np.float32)

    def add_babble(self, chance, sound):
        """Somebody else in the background."""
        other = self.audio(chance.integers(len(self.manifest)))
        start = int(chance.integers(0, max(1, len(sound) - len(other))))
        other = other[: len(sound) - start]
        level = np.sqrt(np.mean(other**2)) + 1e-6
        sound[start : start + len(other)] += other / level * decibels(-chance.uniform(14, 28))

    def batch(self, chance, indexes, window=None):
        """Tensors of one batch; B utterances, F = window / 160, S = window / 320, T tokens.

        mel float32 [B, 80, F]; tokens int64 [B, T]; targets int64 [B, T] (-1: no target); labels int64
        [2, B, S]; spans float32 [B, T, S] (1 where the token sounds).
        """
        utterances = [self.utterance(chance, index) for index in indexes]
        window = window or window_for(chance, max(len(one.wave) for one in utterances))
        states = window // STATE_SAMPLES
        mel = np.empty((len(utterances), MELS, window // HOP_SAMPLES), np.float32)
        labels = np.zeros((2, len(utterances), states), np.int64)
        sequences = []
        for row, one in enumerate(utterances):
            used = one.labels[:, :states]
            labels[:, row, : used.shape[1]] = used
            mel[row] = masked(chance, padded_mel(one.wave, window), len(one.wave))
            sequences.append(self.sequence(chance, one))

        length = max(len(tokens) for tokens, _ in sequences)
        tokens = np.full((len(utterances), length), self.vocabulary.end)
        targets = np.full((len(utterances), length), IGNORED)
        spans = np.zeros((len(utterances), length, states), np.float32)
        for row, (one, (ids, wanted)) in enumerate(zip(utterances, sequences)):
            tokens[row, : len(ids)] = ids
            targets[row, : len(wanted)] = wanted
            mark_spans(spans[row], one.spans)
        return tuple(torch.from_numpy(part) for part in (mel, tokens, targets, labels, spans))

    def sequence(self, chance, one):
        """Tokens to feed and tokens wanted after each; a quarter of the phrases with timestamps."""
        v = self.vocabulary
        lang = v.language(one.lang)
        if not one.has_speech:
            fed = [v.start, lang, v.transcribe, v.no_timestamps]
            return fed, [v.no_speech, IGNORED, IGNORED, v.end]
        words = v.encode(one.text)
        if chance.random() < 0.25:
            first, last = (
                v.first_timestamp + int(round(at / SAMPLE_RATE / 0.02))
                for at in (one.start, one.end)
            )
            whole = [v.start, lang, v.transcribe, first, *words, last, v.end]
            return whole[:-1], [lang, IGNORED, *whole[3:]]
        whole = [v.start, lang, v.transcribe, v.no_timestamps, *words, v.end]
        return whole[:-1], [lang, IGNORED, IGNORED, *whole[4:]]

    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        chance = np.random.default_rng(self.seed + (worker.id if worker else 0))
        torch.set_num_threads(1)
        group = self.batch_size * self.batches_sorted
        while True:
            order = chance.permutation(len(self.manifest))
            for start in range(0, len(order) - group + 1, group):
                yield from self.group(chance, order[start : start + group])

    def group(self, chance, indexes):
        """Batches of phrases of like length; one in fifty is small and padded to Whisper's 30 s."""
        by_length = sorted(indexes, key=lambda index: self.manifest[index]["n"])
        size = self.batch_size
        batches = [by_length[start : start + size] for start in range(0, len(by_length), size)]
        chance.shuffle(batches)
        for chosen in batches:
            if chance.random() < 0.02:
                yield self.batch(chance, chosen[:4], WINDOW_SAMPLES)
            else:
                yield self.batch(chance, chosen)

"""Speaks phrases with espeak-ng into one array of int16 samples at 16 kHz, with a manifest.

    python3 gen.py train 24000 --seed 7 --out data/train

Writes `OUT.npy` (all utterances, one after the other) and `OUT.json`: a list of
`{lang, text, voice, speed, pitch, off, n, words, phon}`. `off` and `n` are samples; `words` is a list of
`(character, sample)`, `phon` of `(sample, phoneme)`, both counted from the start of the utterance.
"""

import argparse
import json
import random
import time
from multiprocessing import Pool

import numpy as np
from scipy.signal import resample_poly

import phrases
from espeak import Espeak

SAMPLE_RATE = 16000
SAMPLES_PER_MS = SAMPLE_RATE // 1000
LONGEST_SECONDS = 7.4
EDGE_SAMPLES = 160
SILENCE = 60

ENGLISH = [
    "gmw/" + accent
    for accent in (
        "en-US en en-GB-scotland en-GB-x-gbclan en-GB-x-gbcwmd en-GB-x-rp en-029 en-US-nyc".split()
    )
]
SPANISH = ["roa/es", "roa/es-419"]

TRAINING_VARIANTS = [""] + (
    "m1 m2 m3 m4 m5 m7 f1 f2 f3 f5 Alex Andrea Alicia Gene Hugo Lee Linda Mario Max Michael Mike Paul "
    "Rob adam anika belinda benjamin boris caleb david ed edward grandma iven john kaukovalta marcelo "
    "miguel norbert quincy robert sandro steph travis victor klatt klatt2 klatt4 whisperf croak Jacky "
    "aunty Diogo Andy"
).split()

# Never heard in training.
TEST_VARIANTS = (
    "m6 m8 f4 Annie Denis Marco shelby zac gustave michel pedro grandpa iven3 steph2 klatt3 Gene2"
).split()

engine = None


def job(chance, split):
    """What to say and how: `(lang, text, voice, words_per_minute, pitch, word_gap)`."""
    lang, text = phrases.sample(chance)
    accent = chance.choice(ENGLISH if lang == "en" else SPANISH)
    variant = chance.choice(TRAINING_VARIANTS if split == "train" else TEST_VARIANTS)
    if split == "train":
        speed, pitch = chance.randint(115, 225), chance.randint(15, 85)
        gap = chance.choice([0, 0, 0, 1, 3])
    else:
        speed = chance.choice([120, 133, 147, 160, 175, 190, 205, 220])
        pitch = chance.choice([10, 30, 50, 70, 90])
        gap = chance.choice([0, 0, 2])
    return lang, text, accent + ("+" + variant if variant else ""), speed, pitch, gap


def say(arguments):
    """Samples at 16 kHz, words and phonemes of one job; None when nothing was heard."""
    global engine
    if engine is None:
        engine = Espeak()
    text, voice, speed, pitch, gap = arguments
    wave, words = engine.say(text, voice, speed, pitch, gap)
    if wave is None or len(wave) < 500:
        return None
    wave = resample_poly(wave.astype(np.float32), 320, 441)
    wave = np.clip(wave, -32767, 32767).astype(np.int16)
    loud = np.where(np.abs(wave) > SILENCE)[0]
    if not len(loud):
        return None
    start = max(0, loud[0] - EDGE_SAMPLES)
    marks = word_marks(words, start, loud[-1] - start)
    if not marks:
        return None
    phonemes = [(sample_at(ms, start), phoneme) for ms, phoneme in engine.phonemes]
    return wave[start : loud[-1] + EDGE_SAMPLES], marks, phonemes


def word_marks(words, start, end):
    """Starts of words as `(character, sample)`. espeak-ng repeats some events: only rising ones count."""
    marks = []
    for character, _, ms in words:
        at = sample_at(ms, start)
        is_rising = not marks or (character > marks[-1][0] and at >= marks[-1][1])
        if character >= 0 and is_rising and at < end:
            marks.append((character, at))
    return marks


def sample_at(ms, start):
    return max(0, ms * SAMPLES_PER_MS - int(start))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("split", choices=["train", "test"])
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()

    started = time.time()
    chance = random.Random(options.seed)
    jobs = [job(chance, options.split) for _ in range(options.count)]
    with Pool(options.processes) as pool:
        spoken = pool.map(say, [one[1:] for one in jobs], chunksize=64)

    manifest, kept, offset = [], [], 0
    for (lang, text, voice, speed, pitch, _), result in zip(jobs, spoken):
        if result is None or len(result[0]) > SAMPLE_RATE * LONGEST_SECONDS:
            continue
        wave, words, phonemes = result
        manifest.append(
            dict(
                lang=lang,
                text=text,
                voice=voice,
                speed=speed,
                pitch=pitch,
                off=offset,
                n=len(wave),
                words=words,
                phon=phonemes,
            )
        )
        kept.append(wave)
        offset += len(wave)
    np.save(options.out + ".npy", np.concatenate(kept))
    with open(options.out + ".json", "w") as file:
        json.dump(manifest, file)
    hours = offset / SAMPLE_RATE / 3600
    print(f"{options.split}: {len(manifest)} utterances, {hours:.2f} h, {time.time() - started:.0f} s")


if __name__ == "__main__":
    main()

"""Trains the tiny Whisper on what gen.py spoke.

    python3 train.py --width 64 --heads 4 --hidden 192 --encoder-layers 2 --decoder-layers 2 --batch 32 --minutes 20

Writes `OUT` (a checkpoint: `sd`, the weights, and `args`) and `OUT.words.json` (the vocabulary's words).
The loss is cross-entropy of the tokens, and of the phoneme and word that sound in each of the encoder's
states, and a pull of the last layer's first two cross-attention heads towards each token's own sound.
Without the last two, neither this nor CTC took off in the time.
"""

import argparse
import json
import math
import random
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import phrases
from dataset import PhraseData
from evaluate import evaluate
from mel import SAMPLE_RATE
from model import Whisper
from vocabulary import Vocabulary

# The label layer's first outputs are phonemes, the rest words.
PHONEMES, WORDS = 100, 300

WARM_UP_STEPS = 300
MINUTES_BETWEEN_TESTS = 4


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", default="data", help="folder with train.npy and test.npy")
    parser.add_argument("--out", default="data/asr.pt")
    parser.add_argument("--init", help="checkpoint to go on from")
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--steps", type=int, help="stop after so many, for a trial")
    parser.add_argument("--width", type=int, default=96)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--hidden", type=int, default=288)
    parser.add_argument("--encoder-layers", type=int, default=3)
    parser.add_argument("--decoder-layers", type=int, default=2)
    parser.add_argument("--batch", type=int, default=48)
    parser.add_argument("--learning-rate", type=float, default=2e-3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=int, default=10**9, help="phrases used")
    return parser.parse_args()


def vocabulary_of_all_phrases():
    chance = random.Random(3)
    return Vocabulary(sorted({phrases.sample(chance)[1] for _ in range(60000)}))


def build(vocabulary, options):
    return Whisper(
        len(vocabulary),
        options.width,
        options.heads,
        options.hidden,
        options.encoder_layers,
        options.decoder_layers,
        labels=PHONEMES + WORDS,
    )


def losses(model, batch):
    """Of tokens, words, phonemes and alignment. Shapes as in `PhraseData.batch`."""
    mel, tokens, targets, labels, spans = batch
    states = model.encoder(mel)
    scores = model.ctc(states)
    of_phonemes = F.cross_entropy(
        scores[..., :PHONEMES].reshape(-1, PHONEMES), labels[1].reshape(-1)
    )
    of_words = F.cross_entropy(scores[..., PHONEMES:].reshape(-1, WORDS), labels[0].reshape(-1))
    logits, _, _, attentions = model.decoder(tokens, states, want_attention=True)
    has_span = spans.sum(-1) > 0
    on_target = (attentions[-1][:, :2].mean(1) * spans).sum(-1)[has_span]
    of_alignment = -torch.log(on_target + 1e-5).mean()
    of_tokens = F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]),
        targets.reshape(-1),
        ignore_index=-1,
        label_smoothing=0.02,
    )
    return of_tokens, of_words, of_phonemes, of_alignment


def learning_rate(options, step, minutes):
    warm_up = min(1, (step + 1) / WARM_UP_STEPS)
    return options.learning_rate * warm_up * cosine(minutes / options.minutes) + 1e-6


def cosine(share):
    return 0.5 + 0.5 * math.cos(math.pi * min(1, share))


def learn(model, optimizer, batch, guidance):
    """One step. Returns the losses, or None where a step would have spoiled the weights."""
    if not torch.isfinite(batch[0]).all():
        print("bad input", flush=True)
        return None
    of_tokens, of_words, of_phonemes, of_alignment = losses(model, batch)
    of_labels = of_phonemes + 0.5 * of_words
    loss = of_tokens + guidance * of_labels + 0.5 * guidance * of_alignment
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    if not torch.isfinite(norm):
        print("bad gradient", loss.item(), flush=True)
        return None
    optimizer.step()
    return [part.item() for part in (of_tokens, of_words, of_phonemes, of_alignment)]


def train(model, vocabulary, options):
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=options.learning_rate, betas=(0.9, 0.98), weight_decay=0.01
    )
    # Going on from a checkpoint, it should not see the same order again.
    seed = int(time.time()) % 100000 if options.init else 11
    data = PhraseData(options.data + "/train", vocabulary, options.batch, seed, options.limit)
    batches = iter(
        torch.utils.data.DataLoader(data, batch_size=None, num_workers=1, prefetch_factor=6)
    )
    started, step, tested, history = time.time(), 0, 0, []
    while step != options.steps:
        minutes = (time.time() - started) / 60
        if minutes > options.minutes:
            break
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(options, step, minutes)
        guidance = 1.0 if minutes < options.minutes * 0.6 else 0.3
        parts = learn(model, optimizer, next(batches), guidance)
        if parts is None:
            continue
        step += 1
        history.append(parts)
        if step % 100 == 0:
            told = "tokens %.3f  words %.3f  phonemes %.3f  alignment %.3f"
            means = tuple(np.mean(history[-100:], 0))
            print("step %d  %.1f min  " % (step, minutes) + told % means, flush=True)
        if minutes - tested > MINUTES_BETWEEN_TESTS:
            tested = minutes
            print("  ", evaluate(model, vocabulary, options.data + "/test", count=192), flush=True)
            save(model, options)
    print("steps", step, "last losses", ["%.3f" % part for part in history[-1]] if history else "")


def save(model, options):
    torch.save(dict(sd=model.state_dict(), args=vars(options)), options.out)


def main():
    options = arguments()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    vocabulary = vocabulary_of_all_phrases()
    with open(options.out + ".words.json", "w") as file:
        json.dump(vocabulary.words, file, ensure_ascii=False)
    model = build(vocabulary, options)
    count = sum(weights.numel() for weights in model.parameters())
    print("vocabulary", len(vocabulary), "parameters", count, flush=True)
    if options.init:
        model.load_state_dict(torch.load(options.init)["sd"])
    train(model, vocabulary, options)
    save(model, options)
    for window, count, shown in ((None, 800, 12), (30 * SAMPLE_RATE, 96, 0)):
        told = evaluate(
            model, vocabulary, options.data + "/test", window=window, count=count, shown=shown
        )
        print("window", window, told, flush=True)


if __name__ == "__main__":
    main()

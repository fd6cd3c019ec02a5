"""What sounds when: labels of the encoder's states, 320 samples (20 ms) apart."""

import numpy as np

from scoring import words_of
from vocabulary import WORD

STATE_SAMPLES = 320


def numbered(names):
    """Labels from 1; 0 is for none."""
    return {name: place + 1 for place, name in enumerate(sorted(names))}


def word_at(text, place):
    """The word that begins at a character, as scored; None when there is none."""
    words = words_of(text[place:].lstrip("¿ ").split(" ")[0]) if place < len(text) else []
    return words[0] if words else None


def sounding(marks, lead, length, states):
    """int64 [states]: the label of the mark that sounds in each state."""
    labels = np.zeros(states, np.int64)
    for place, (start, label) in enumerate(marks):
        end = marks[place + 1][0] if place + 1 < len(marks) else length
        first = int(round((lead + start) / STATE_SAMPLES))
        last = int(round((lead + min(end, length)) / STATE_SAMPLES))
        labels[first:last] = label
    return labels


def token_spans(text, marks, characters, lead, length):
    """For every token of the text the states of its word; None for punctuation."""
    spans = []
    for token in WORD.finditer(" " + text):
        if not any(character.isalnum() for character in token.group()):
            spans.append(None)
            continue
        place = token.start() if token.group()[0] == " " else token.start() - 1
        word = max((n for n, character in enumerate(characters) if character <= place), default=0)
        end = marks[word + 1][0] if word + 1 < len(marks) else length
        first = int((lead + marks[word][0]) / STATE_SAMPLES)
        last = int((lead + min(end, length)) / STATE_SAMPLES)
        spans.append((first, max(first + 1, last)))
    return spans


def mark_spans(rows, spans):
    """Sets 1 in [T, S]; the text's tokens are predicted from the fourth place on."""
    for token, span in enumerate(spans, start=3):
        if span and token < len(rows):
            rows[token, min(span[0], rows.shape[1] - 1) : span[1] + 1] = 1

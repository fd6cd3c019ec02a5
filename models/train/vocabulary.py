"""The tiny tokenizer: bytes, whole words, and Whisper's special tokens in Whisper's order."""

import json
import re

WORD = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?[^\W\d_]+| ?\d+| ?[^\s\w]+|\s+")

SPECIAL = [
    "<|endoftext|>",
    "<|startoftranscript|>",
    "<|en|>",
    "<|es|>",
    "<|translate|>",
    "<|transcribe|>",
    "<|startoflm|>",
    "<|startofprev|>",
    "<|nospeech|>",
    "<|notimestamps|>",
] + ["<|%.2f|>" % (step * 0.02) for step in range(1501)]


def byte_characters():
    """GPT-2's printable stand-in for each byte."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    characters = {byte: chr(byte) for byte in shown}
    hidden = [byte for byte in range(256) if byte not in characters]
    return {**characters, **{byte: chr(256 + place) for place, byte in enumerate(hidden)}}


BYTE_CHARACTERS = byte_characters()


def token_of(word):
    return "".join(BYTE_CHARACTERS[byte] for byte in word.encode())


class Vocabulary:
    """Tokens and their numbers. Made from texts, or from the list of words that training saved."""

    def __init__(self, texts=None, path=None):
        self.words = self.saved(path) if path else self.found(texts)
        base = [BYTE_CHARACTERS[byte] for byte in range(256)]
        known = set(base)
        self.text = base + [token_of(word) for word in self.words if token_of(word) not in known]
        self.special = SPECIAL
        self.id = {token: number for number, token in enumerate(self.text + self.special)}
        self.end = self.id["<|endoftext|>"]
        self.start = self.id["<|startoftranscript|>"]
        self.no_speech = self.id["<|nospeech|>"]
        self.no_timestamps = self.id["<|notimestamps|>"]
        self.transcribe = self.id["<|transcribe|>"]
        self.first_timestamp = self.no_timestamps + 1
        self.bytes = {character: byte for byte, character in BYTE_CHARACTERS.items()}

    @staticmethod
    def saved(path):
        with open(path) as file:
            return json.load(file)

    @staticmethod
    def found(texts):
        single = {token_of(chr(byte)) for byte in range(128)}
        return sorted({word for text in texts for word in WORD.findall(" " + text)} - single)

    def language(self, lang):
        return self.id["<|%s|>" % lang]

    def encode(self, text):
        return [self.id[token_of(word)] for word in WORD.findall(" " + text)]

    def decode(self, ids):
        data = bytes(self.bytes[c] for one in ids if one < len(self.text) for c in self.text[one])
        return data.decode("utf8", "replace")

    def __len__(self):
        return len(self.id)

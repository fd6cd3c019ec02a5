"""Turns a checkpoint of train.py into a Whisper folder as onnx-community lays it out.

    python3 export.py data/asr.pt data/asr.pt.words.json ../tiny/whisper

Writes onnx/encoder_model.onnx, onnx/decoder_model_merged.onnx (with keys and values of past tokens) and
the JSON files. Prints some logits for a fixed input, to compare other runtimes with.
"""

import argparse
import io
import os

import onnx
import torch

from decoder_merge import merge
from model import Whisper
from vocabulary import Vocabulary
from whisper_files import write_whisper_files

OPSET = 14
BATCH = {0: "batch_size"}


class FirstStep(torch.nn.Module):
    """Tokens and states to logits, all keys and values, and attention."""

    def __init__(self, decoder):
        super().__init__()
        self.decoder = decoder

    def forward(self, ids, states):
        logits, kv, encoder_kv, attention = self.decoder(ids, states, want_attention=True)
        pairs = [pair for layer in zip(kv, encoder_kv) for pair in layer]
        return (logits, *[part for pair in pairs for part in pair], *attention)


class NextStep(torch.nn.Module):
    """A token, and the keys and values so far, to logits, the decoder's keys and values, and attention."""

    def __init__(self, decoder):
        super().__init__()
        self.decoder = decoder

    def forward(self, ids, *flat):
        layers = range(0, len(flat), 4)
        past = [(flat[at], flat[at + 1]) for at in layers]
        encoder_kv = [(flat[at + 2], flat[at + 3]) for at in layers]
        logits, kv, _, attention = self.decoder(ids, None, encoder_kv, past, want_attention=True)
        return (logits, *[part for pair in kv for part in pair], *attention)


def kv_names(prefix, kinds, layers):
    return [
        f"{prefix}.{layer}.{kind}.{part}"
        for layer in range(layers)
        for kind in kinds
        for part in ("key", "value")
    ]


def attention_names(layers):
    return [f"cross_attentions.{layer}" for layer in range(layers)]


def is_encoders(name):
    return ".encoder." in name


def export(module, arguments, inputs, outputs, axes):
    data = io.BytesIO()
    torch.onnx.export(
        module,
        arguments,
        data,
        input_names=inputs,
        output_names=outputs,
        dynamic_axes={name: axes[name] for name in inputs + outputs},
        opset_version=OPSET,
        # Folding would copy the tied weights of embedding and output.
        do_constant_folding=False,
    )
    return onnx.load_from_string(data.getvalue())


def export_encoder(encoder):
    axes = {
        "input_features": {**BATCH, 2: "frames"},
        "last_hidden_state": {**BATCH, 1: "encoder_sequence_length"},
    }
    inputs, outputs = ["input_features"], ["last_hidden_state"]
    return export(encoder, (torch.randn(1, 80, 600),), inputs, outputs, axes)


def export_decoder(decoder, vocabulary, options):
    """Both steps, merged."""
    layers, width, heads = options["decoder_layers"], options["width"], options["heads"]
    head_width = width // heads
    present = kv_names("present", ("decoder", "encoder"), layers)
    past = kv_names("past_key_values", ("decoder", "encoder"), layers)
    attention = attention_names(layers)
    axes = decoder_axes(present, past, attention)

    ids = torch.tensor([[vocabulary.start, vocabulary.no_timestamps]])
    first = export(
        FirstStep(decoder),
        (ids, torch.randn(1, 300, width)),
        ["input_ids", "encoder_hidden_states"],
        ["logits", *present, *attention],
        axes,
    )
    lengths = [300 if is_encoders(name) else 4 for name in past]
    flat = [torch.randn(1, heads, length, head_width) for length in lengths]
    with_past = export(
        NextStep(decoder),
        (torch.tensor([[5]]), *flat),
        ["input_ids", *past],
        ["logits", *kv_names("present", ("decoder",), layers), *attention],
        axes,
    )
    return merge(first, with_past, heads, head_width)


def decoder_axes(present, past, attention):
    axes = {
        "input_ids": {**BATCH, 1: "decoder_sequence_length"},
        "encoder_hidden_states": {**BATCH, 1: "encoder_sequence_length"},
        "logits": {**BATCH, 1: "decoder_sequence_length"},
    }
    for kind, names in (("present", present), ("past", past)):
        for name in names:
            owner = "encoder" if is_encoders(name) else "decoder"
            axes[name] = {**BATCH, 2: f"{kind}_{owner}_length"}
    for name in attention:
        axes[name] = {**BATCH, 2: "q", 3: "s"}
    return axes


def show_parity(model, vocabulary):
    v = vocabulary
    torch.manual_seed(0)
    mel = torch.randn(1, 80, 400)
    fed = torch.tensor([[v.start, v.language("en"), v.transcribe, v.no_timestamps]])
    with torch.no_grad():
        logits, _, _ = model.decoder(fed, model.encoder(mel))
    print("parity", logits[0, -1, :4].tolist())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("checkpoint")
    parser.add_argument("words")
    parser.add_argument("folder")
    arguments = parser.parse_args()

    checkpoint = torch.load(arguments.checkpoint)
    options, weights = checkpoint["args"], checkpoint["sd"]
    vocabulary = Vocabulary(path=arguments.words)
    model = Whisper(
        len(vocabulary),
        options["width"],
        options["heads"],
        options["hidden"],
        options["encoder_layers"],
        options["decoder_layers"],
        labels=weights["ctc.weight"].shape[0],
    )
    model.load_state_dict(weights)
    model.eval()

    os.makedirs(arguments.folder + "/onnx", exist_ok=True)
    encoder = export_encoder(model.encoder)
    encoder.ir_version = 8
    onnx.save(encoder, arguments.folder + "/onnx/encoder_model.onnx")
    decoder = export_decoder(model.decoder, vocabulary, options)
    onnx.save(decoder, arguments.folder + "/onnx/decoder_model_merged.onnx")
    write_whisper_files(arguments.folder, vocabulary, options)
    show_parity(model, vocabulary)


if __name__ == "__main__":
    main()

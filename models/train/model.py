"""Whisper's architecture, tiny: layer norms first, sinusoids as the encoder's positions, tied output.

Shapes: B utterances, F mel frames (10 ms), S = F / 2 encoder states (20 ms), T tokens, D width, H heads,
V tokens in the vocabulary.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

MELS = 80
ENCODER_POSITIONS = 1500
DECODER_POSITIONS = 448

# Where each head of each encoder layer looks at first, in states of 20 ms.
FIRST_LOOKS = ([-5, -2, 2, 5], [-12, -6, 6, 12], [-3, 3, -9, 9])


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.head_width = heads, width // heads
        self.q = nn.Linear(width, width)
        self.k = nn.Linear(width, width, bias=False)
        self.v = nn.Linear(width, width)
        self.o = nn.Linear(width, width)

    def split(self, x):
        """[B, n, D] to [B, H, n, D / H]."""
        return x.reshape(x.shape[0], -1, self.heads, self.head_width).transpose(1, 2)

    def keys_and_values(self, x):
        return self.split(self.k(x)), self.split(self.v(x))

    def forward(self, x, keys, values, mask=None):
        """Returns [B, T, D] and the attention [B, H, T, n]."""
        queries = self.split(self.q(x) * self.head_width**-0.5)
        scores = queries @ keys.transpose(2, 3)
        if mask is not None:
            scores = scores + mask
        attention = F.softmax(scores, -1)
        mixed = (attention @ values).transpose(1, 2)
        return self.o(mixed.reshape(x.shape[0], -1, self.heads * self.head_width)), attention


def look_at_neighbours(attention, positions, offsets, sharpness=6.0):
    """Starts the heads as soft looks at fixed distances. Only an initial value: training may change it."""
    width = positions.shape[1]
    half = width // 2
    pairs = attention.head_width // 2
    rates = torch.exp(-math.log(10000) / (half - 1) * torch.arange(half))
    chosen = torch.linspace(0, int(half * 0.42), pairs).round().long()
    with torch.no_grad():
        for head, offset in enumerate(offsets):
            query = torch.zeros(attention.head_width, width)
            key = torch.zeros(attention.head_width, width)
            for pair, rate in enumerate(chosen):
                # The sine and cosine of position + offset, from those of the position.
                cosine, sine = torch.cos(rates[rate] * offset), torch.sin(rates[rate] * offset)
                query[2 * pair, rate], query[2 * pair, half + rate] = cosine, sine
                query[2 * pair + 1, half + rate], query[2 * pair + 1, rate] = cosine, -sine
                key[2 * pair, rate] = 1
                key[2 * pair + 1, half + rate] = 1
            gain = (sharpness / pairs * attention.head_width**0.5) ** 0.5
            rows = slice(head * attention.head_width, (head + 1) * attention.head_width)
            attention.q.weight[rows] = query * gain + 0.02 * torch.randn_like(query)
            attention.k.weight[rows] = key * gain + 0.02 * torch.randn_like(key)
        attention.q.bias.zero_()


class EncoderLayer(nn.Module):
    def __init__(self, width, heads, hidden, dropout):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.a = Attention(width, heads)
        self.f1, self.f2 = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.dr = nn.Dropout(dropout)

    def forward(self, x):
        y = self.n1(x)
        x = x + self.dr(self.a(y, *self.a.keys_and_values(y))[0])
        return x + self.dr(self.f2(F.gelu(self.f1(self.n2(x)))))


class DecoderLayer(nn.Module):
    def __init__(self, width, heads, hidden, dropout):
        super().__init__()
        self.n1, self.n2, self.n3 = (nn.LayerNorm(width) for _ in range(3))
        self.a, self.c = Attention(width, heads), Attention(width, heads)
        self.f1, self.f2 = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.dr = nn.Dropout(dropout)

    def forward(self, x, mask, encoder_keys, encoder_values, past_keys=None, past_values=None):
        """Returns [B, T, D], all keys and values so far, and the cross-attention [B, H, T, S]."""
        y = self.n1(x)
        keys, values = self.a.keys_and_values(y)
        if past_keys is not None:
            keys = torch.cat([past_keys, keys], 2)
            values = torch.cat([past_values, values], 2)
        x = x + self.dr(self.a(y, keys, values, mask)[0])
        y, attention = self.c(self.n2(x), encoder_keys, encoder_values)
        x = x + self.dr(y)
        return x + self.dr(self.f2(F.gelu(self.f1(self.n3(x))))), keys, values, attention


class Encoder(nn.Module):
    """Mel [B, 80, F] to states [B, F / 2, D]."""

    def __init__(self, width, heads, hidden, layers, dropout):
        super().__init__()
        self.c1 = nn.Conv1d(MELS, width, 3, padding=1)
        self.c2 = nn.Conv1d(width, width, 3, 2, padding=1)
        self.register_buffer("pos", sinusoids(ENCODER_POSITIONS, width))
        self.L = nn.ModuleList(
            [EncoderLayer(width, heads, hidden, dropout) for _ in range(layers)]
        )
        self.ln = nn.LayerNorm(width)
        self.dr = nn.Dropout(dropout)
        for layer, offsets in zip(self.L, FIRST_LOOKS):
            look_at_neighbours(layer.a, self.pos, (offsets * heads)[:heads])

    def forward(self, mel):
        # Keep `.contiguous()`: Debian's torch 1.13 with oneDNN computes GELU's gradient wrongly (in 200
        # of 200 trials, sometimes by 1e19) when the gradient that comes back to it is transposed.
        x = F.gelu(self.c2(F.gelu(self.c1(mel))).transpose(1, 2).contiguous())
        x = self.dr(x + self.pos[: x.shape[1]])
        for layer in self.L:
            x = layer(x)
        return self.ln(x)


def sinusoids(count, width):
    rates = torch.exp(-math.log(10000) / (width // 2 - 1) * torch.arange(width // 2))
    angles = torch.arange(count)[:, None] * rates[None]
    return torch.cat([angles.sin(), angles.cos()], 1)


class Decoder(nn.Module):
    def __init__(self, tokens, width, heads, hidden, layers, dropout):
        super().__init__()
        self.emb = nn.Embedding(tokens, width)
        self.pos = nn.Embedding(DECODER_POSITIONS, width)
        self.L = nn.ModuleList(
            [DecoderLayer(width, heads, hidden, dropout) for _ in range(layers)]
        )
        self.ln = nn.LayerNorm(width)
        self.dr = nn.Dropout(dropout)
        nn.init.normal_(self.emb.weight, std=0.05)
        nn.init.normal_(self.pos.weight, std=0.02)

    def forward(self, ids, states=None, encoder_kv=None, past=None, want_attention=False):
        """ids [B, T] to logits [B, T, V].

        Also returns the decoder's keys and values of each layer, [B, H, T so far, D / H] each, and the
        encoder's, [B, H, S, D / H] each, to be handed in again with the next tokens.
        """
        count = ids.shape[1]
        before = past[0][0].shape[2] if past is not None else 0
        places = torch.arange(count) + before
        x = self.dr(self.emb(ids) + self.pos(places))
        mask = (torch.arange(count + before)[None] > places[:, None]).float() * -1e9
        encoder_kv = encoder_kv or [layer.c.keys_and_values(states) for layer in self.L]
        kv, attentions = [], []
        for index, layer in enumerate(self.L):
            past_kv = past[index] if past is not None else (None, None)
            x, keys, values, attention = layer(x, mask, *encoder_kv[index], *past_kv)
            kv.append((keys, values))
            attentions.append(attention)
        logits = self.ln(x) @ self.emb.weight.t()
        if want_attention:
            return logits, kv, encoder_kv, attentions
        return logits, kv, encoder_kv


class Whisper(nn.Module):
    """`ctc` labels each encoder state with its phoneme and word during training; it is not exported."""

    def __init__(self, tokens, width=96, heads=4, hidden=288, encoder_layers=3, decoder_layers=2,
                 dropout=0.1, labels=30):
        super().__init__()
        self.encoder = Encoder(width, heads, hidden, encoder_layers, dropout)
        self.decoder = Decoder(tokens, width, heads, hidden, decoder_layers, dropout)
        self.ctc = nn.Linear(width, labels)

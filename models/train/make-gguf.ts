/**
 * Writes a llama of random weights as a GGUF file: one layer, letters for a vocabulary. It says nonsense,
 * but loads, streams, aborts and obeys grammars for real: `node models/train/make-gguf.ts OUT.gguf [LAYERS WIDTH CONTEXT]`.
 * With one more argument it has a word that it always wants to say, until it has closed a brace: enough to call a tool.
 *
 *     "GGUF" version u32  tensors u64  keys u64
 *     keys:    name, type u32, value            strings are a u64 length and UTF-8
 *     tensors: name, dimensions u32 and u64s, type u32, offset u64
 *     data:    float32, little-endian, each tensor at a multiple of 32 bytes
 *
 * @see the GGUF specification, ggml/docs/gguf.md
 */
import { writeFileSync } from 'node:fs';

const [, , out, layers = '1', width = '64', context = '2048', favourite] = process.argv;

const LAYERS = Number(layers);
const WIDTH = Number(width);
const HEADS = WIDTH / 16;
const HIDDEN = 2 * WIDTH;
const CONTEXT = Number(context);
const VERSION = 3;
const ALIGNMENT_BYTES = 32;

/** Numbers of the value types in the file. */
const TYPE = { u32: 4, i32: 5, f32: 6, string: 8, array: 9 } as const;

/** Numbers of the token types in the file. */
const TOKEN = { normal: 1, unknown: 2, control: 3, byte: 6 } as const;

/** A tensor of float32 has the type 0. */
const FLOAT32 = 0;

type NumberType = 'u32' | 'i32' | 'f32';

type Value =
  | { readonly type: NumberType; readonly value: number }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'array'; readonly of: NumberType; readonly value: readonly number[] }
  | { readonly type: 'array'; readonly of: 'string'; readonly value: readonly string[] };

interface Tensor {
  readonly name: string;
  readonly shape: readonly number[];
}

const WORDS = ['▁the', '▁a', '▁to', '▁you', '▁is', '▁I'];
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,?!\'"{}[]:-_';

const vocabulary: readonly { readonly text: string; readonly type: number }[] = [
  { text: '<unk>', type: TOKEN.unknown },
  { text: '<s>', type: TOKEN.control },
  { text: '</s>', type: TOKEN.control },
  ...Array.from({ length: 256 }, (_, byte) => ({
    text: `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
    type: TOKEN.byte,
  })),
  ...['▁', ...LETTERS, ...WORDS, ...(favourite === undefined ? [] : [favourite])].map((text) => ({
    text,
    type: TOKEN.normal,
  })),
];

const KEYS: Readonly<Record<string, Value>> = {
  'general.architecture': { type: 'string', value: 'llama' },
  'general.name': { type: 'string', value: 'tiny-random' },
  'llama.context_length': { type: 'u32', value: CONTEXT },
  'llama.embedding_length': { type: 'u32', value: WIDTH },
  'llama.block_count': { type: 'u32', value: LAYERS },
  'llama.feed_forward_length': { type: 'u32', value: HIDDEN },
  'llama.attention.head_count': { type: 'u32', value: HEADS },
  'llama.attention.head_count_kv': { type: 'u32', value: HEADS },
  'llama.rope.dimension_count': { type: 'u32', value: WIDTH / HEADS },
  'llama.attention.layer_norm_rms_epsilon': { type: 'f32', value: 1e-5 },
  'llama.vocab_size': { type: 'u32', value: vocabulary.length },
  'general.file_type': { type: 'u32', value: 0 },
  'tokenizer.ggml.model': { type: 'string', value: 'llama' },
  'tokenizer.ggml.tokens': {
    type: 'array',
    of: 'string',
    value: vocabulary.map(({ text }) => text),
  },
  'tokenizer.ggml.scores': { type: 'array', of: 'f32', value: vocabulary.map((_, n) => -n) },
  'tokenizer.ggml.token_type': {
    type: 'array',
    of: 'i32',
    value: vocabulary.map(({ type }) => type),
  },
  'tokenizer.ggml.bos_token_id': { type: 'u32', value: 1 },
  'tokenizer.ggml.eos_token_id': { type: 'u32', value: 2 },
  'tokenizer.ggml.unknown_token_id': { type: 'u32', value: 0 },
};

const TENSORS: readonly Tensor[] = [
  { name: 'token_embd.weight', shape: [WIDTH, vocabulary.length] },
  { name: 'output_norm.weight', shape: [WIDTH] },
  { name: 'output.weight', shape: [WIDTH, vocabulary.length] },
  ...Array.from({ length: LAYERS }, (_, layer) => layerTensors(layer)).flat(),
];

function layerTensors(layer: number): Tensor[] {
  const square = [WIDTH, WIDTH];
  const shapes: Readonly<Record<string, readonly number[]>> = {
    attn_norm: [WIDTH],
    attn_q: square,
    attn_k: square,
    attn_v: square,
    attn_output: square,
    ffn_norm: [WIDTH],
    ffn_gate: [WIDTH, HIDDEN],
    ffn_up: [WIDTH, HIDDEN],
    ffn_down: [HIDDEN, WIDTH],
  };
  return Object.entries(shapes).map(([name, shape]) => ({
    name: `blk.${layer}.${name}.weight`,
    shape,
  }));
}

/** The same numbers on every machine: a linear congruential generator, from -0.5 to 0.5. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function numberBytes(kind: NumberType, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  switch (kind) {
    case 'u32':
      bytes.writeUInt32LE(value);
      break;
    case 'i32':
      bytes.writeInt32LE(value);
      break;
    case 'f32':
      bytes.writeFloatLE(value);
      break;
    default:
      kind satisfies never;
  }
  return bytes;
}

function stringBytes(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([u64(bytes.length), bytes]);
}

function valueBytes(value: Value): Buffer {
  if (value.type === 'string') {
    return stringBytes(value.value);
  }
  if (value.type !== 'array') {
    return numberBytes(value.type, value.value);
  }
  const items =
    value.of === 'string'
      ? value.value.map(stringBytes)
      : value.value.map((item) => numberBytes(value.of, item));
  return Buffer.concat([u32(TYPE[value.of]), u64(items.length), ...items]);
}

function keyBytes([name, value]: [string, Value]): Buffer {
  return Buffer.concat([stringBytes(name), u32(TYPE[value.type]), valueBytes(value)]);
}

function sizeOf({ shape }: Tensor): number {
  return shape.reduce((product, length) => product * length, 1);
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT_BYTES) * ALIGNMENT_BYTES;
}

/** The tensors' table: where each begins in the data. */
function tableBytes(): Buffer {
  let offset = 0;
  const rows = TENSORS.map((tensor) => {
    const row = [
      stringBytes(tensor.name),
      u32(tensor.shape.length),
      ...tensor.shape.map(u64),
      u32(FLOAT32),
      u64(offset),
    ];
    offset += aligned(sizeOf(tensor) * 4);
    return Buffer.concat(row);
  });
  return Buffer.concat(rows);
}

/** Norms are ones; the rest is spread so that a layer keeps the size of what passes through it. */
function weightBytes(tensor: Tensor, random: () => number): Buffer {
  const bytes = Buffer.alloc(aligned(sizeOf(tensor) * 4));
  const spread = 1.6 / Math.sqrt(tensor.shape[0] ?? 1);
  for (let n = 0; n < sizeOf(tensor); n++) {
    bytes.writeFloatLE(tensor.name.includes('norm') ? 1 : random() * 2 * spread, n * 4);
  }
  if (favourite !== undefined) wish(tensor, bytes);
  return bytes;
}

/** The first number of a token says whether the favourite is wanted after it, that of a row of the output who is wanted then. */
function wish({ name }: Tensor, bytes: Buffer): void {
  const closing = vocabulary.findIndex(({ text }) => text === '}');
  for (const [token, { text }] of vocabulary.entries()) {
    const wanted: Readonly<Record<string, number>> = { [favourite ?? '']: 5, '</s>': -5 };
    const first = name === 'token_embd.weight' ? (token === closing ? -3 : 3) : (wanted[text] ?? 0);
    const isWish = name === 'token_embd.weight' || name === 'output.weight';
    if (isWish) bytes.writeFloatLE(first, token * WIDTH * 4);
  }
}

function gguf(): Buffer {
  const keys = Object.entries(KEYS);
  const head = Buffer.concat([
    Buffer.from('GGUF'),
    u32(VERSION),
    u64(TENSORS.length),
    u64(keys.length),
    ...keys.map(keyBytes),
    tableBytes(),
  ]);
  const random = randomNumbers(7);
  const padding = Buffer.alloc(aligned(head.length) - head.length);
  return Buffer.concat([head, padding, ...TENSORS.map((tensor) => weightBytes(tensor, random))]);
}

if (out === undefined) {
  console.error('Usage: node models/train/make-gguf.ts OUT.gguf [LAYERS WIDTH CONTEXT WORD]');
  process.exitCode = 2;
} else {
  writeFileSync(out, gguf());
}

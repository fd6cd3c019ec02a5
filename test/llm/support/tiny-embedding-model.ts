/** A tiny embedding model in the layout of a real one: a vector a word, so that words of one meaning lie close together. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { float32, type OnnxGraph, onnxModel } from '../../support/speech/onnx-file.ts';

/** Tokenizers as hubs have them: BERT's, and the one of XLM-RoBERTa, which multilingual E5 uses. */
export type TokenizerKind = 'wordpiece' | 'unigram';

/** Words by their meaning; a meaning is a direction of its own. */
const MEANINGS: readonly (readonly string[])[] = [
  ['query', 'passage', ':'],
  ['expensive', 'euros', 'ninety', 'price', 'costs'],
  ['open', 'opens', 'nine', 'hours', 'pressed'],
  ['cat', 'pets', 'animal'],
];

/** Words without a meaning that counts. */
const FILLERS = ['how', 'is', 'it', 'a', 'visit', 'from', 'may', 'come', '.', '?', '#', 'much'];

const SPECIALS = ['<s>', '<pad>', '</s>', '<unk>'];

const WIDTH = MEANINGS.length + 1;

/** How much of a filler's vector is its own; all share one direction. */
const FILLER_SHARE = 0.1;

const WORDS = [...SPECIALS, ...MEANINGS.flat(), ...FILLERS];

function vectorOf(word: string): readonly number[] {
  const at = MEANINGS.findIndex((words) => words.includes(word));
  return Array.from({ length: WIDTH }, (_, axis) => {
    if (at === -1) return axis === WIDTH - 1 ? FILLER_SHARE : 0;
    // Of different lengths, so that a missing normalisation shows.
    return axis === at ? 1 + word.length / 10 : 0;
  });
}

/** @see the tokenizer.json of bert-base-uncased and of xlm-roberta-base */
function tokenizerOf(kind: TokenizerKind): object {
  const special = (content: string) => ({ SpecialToken: { id: content, type_id: 0 } });
  const [first = '', , last = ''] = SPECIALS;
  const shared = {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: SPECIALS.map((content, id) => ({
      ...{ id, content, single_word: false, lstrip: false, rstrip: false },
      ...{ normalized: false, special: true },
    })),
    post_processor: {
      type: 'TemplateProcessing',
      single: [special(first), { Sequence: { id: 'A', type_id: 0 } }, special(last)],
      pair: [special(first), { Sequence: { id: 'A', type_id: 0 } }, special(last)],
      special_tokens: Object.fromEntries(
        [first, last].map((token) => [
          token,
          { id: token, ids: [WORDS.indexOf(token)], tokens: [token] },
        ]),
      ),
    },
    decoder: null,
  };
  if (kind === 'wordpiece') {
    return {
      ...shared,
      normalizer: {
        ...{ type: 'BertNormalizer', clean_text: true, handle_chinese_chars: true },
        ...{ strip_accents: null, lowercase: true },
      },
      pre_tokenizer: { type: 'BertPreTokenizer' },
      model: {
        type: 'WordPiece',
        unk_token: '<unk>',
        continuing_subword_prefix: '##',
        max_input_chars_per_word: 100,
        vocab: Object.fromEntries(WORDS.map((word, id) => [word, id])),
      },
    };
  }
  const pieces = WORDS.map((word, id) => [id < SPECIALS.length ? word : `▁${word}`, -1 - id / 100]);
  return {
    ...shared,
    normalizer: { type: 'Lowercase' },
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [
        { type: 'BertPreTokenizer' },
        { type: 'Metaspace', replacement: '▁', add_prefix_space: true, prepend_scheme: 'always' },
      ],
    },
    model: { type: 'Unigram', unk_id: SPECIALS.indexOf('<unk>'), vocab: pieces },
  };
}

/** The vectors of the words, and of padding nothing. */
function graph(): OnnxGraph {
  const table = WORDS.flatMap(vectorOf);
  const ids = ['input_ids', 'attention_mask', 'token_type_ids'];
  return {
    nodes: [
      { op: 'Gather', inputs: ['table', 'input_ids'], outputs: ['vectors'] },
      { op: 'Gather', inputs: ['types', 'token_type_ids'], outputs: ['type'] },
      { op: 'Add', inputs: ['vectors', 'type'], outputs: ['sum'] },
      { op: 'Cast', inputs: ['attention_mask'], outputs: ['mask'], attributes: { to: 1 } },
      { op: 'Unsqueeze', inputs: ['mask', 'last'], outputs: ['column'] },
      { op: 'Mul', inputs: ['sum', 'column'], outputs: ['last_hidden_state'] },
    ],
    inputs: ids.map((name) => ({ name, type: 'int64', dims: ['batch', 'sequence'] })),
    outputs: [{ name: 'last_hidden_state', type: 'float32', dims: ['batch', 'sequence', WIDTH] }],
    tensors: [
      float32('table', [WORDS.length, WIDTH], table),
      float32('types', [2, WIDTH], [...Array(WIDTH).fill(0), ...Array(WIDTH).fill(5)]),
      {
        name: 'last',
        type: 'int64',
        dims: [1],
        bytes: new Uint8Array(new BigInt64Array([-1n]).buffer),
      },
    ],
  };
}

/** Writes `embedding/NAME` into a models folder of the test's own. @returns the models folder and the model's. */
export function makeEmbeddingModel(
  name: string,
  {
    kind = 'wordpiece',
    positions = 64,
  }: { readonly kind?: TokenizerKind; readonly positions?: number } = {},
) {
  const modelsDir = mkdtempSync(join(tmpdir(), 'offhook-embedding-'));
  onTestFinished(() => rmSync(modelsDir, { recursive: true, force: true }));
  const folder = join(modelsDir, 'embedding', name);
  mkdirSync(join(folder, 'onnx'), { recursive: true });
  const write = (file: string, content: object) =>
    writeFileSync(join(folder, file), JSON.stringify(content));
  write('config.json', {
    ...{ model_type: 'bert', hidden_size: WIDTH, vocab_size: WORDS.length },
    max_position_embeddings: positions,
  });
  write('tokenizer.json', tokenizerOf(kind));
  write('tokenizer_config.json', {
    tokenizer_class: kind === 'wordpiece' ? 'BertTokenizer' : 'XLMRobertaTokenizer',
    ...{ model_max_length: positions, unk_token: '<unk>', pad_token: '<pad>' },
  });
  writeFileSync(join(folder, 'onnx', 'model_quantized.onnx'), onnxModel(graph()));
  return { modelsDir, folder };
}

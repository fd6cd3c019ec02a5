/** Moonshine models of any size with weights that mean nothing, in Hugging Face's layout. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onnxModel } from '../../test/support/speech/onnx-file.ts';
import { GraphBuilder, Weights } from './graph-builder.ts';
import { whisperDecoder } from './whisper-decoder-graph.ts';
import type { WhisperSize } from './whisper-encoder-graph.ts';

/** The least that is a Moonshine. */
export const MOONSHINE_LEAST: WhisperSize = {
  modelSize: 16,
  heads: 2,
  layers: 2,
  hidden: 32,
  vocabulary: 64,
  melCount: 0,
};

/** The first filters: one step of the encoder for 384 samples. */
const FILTERS = [
  { kernel: 127, stride: 64 },
  { kernel: 7, stride: 3 },
  { kernel: 3, stride: 2 },
] as const;

/** Writes a model; its decoder has the inputs and outputs of Moonshine's, and Whisper's insides. */
export function writeMoonshine(folder: string, size: WhisperSize): void {
  mkdirSync(join(folder, 'onnx'), { recursive: true });
  const write = (name: string, content: Uint8Array | object) =>
    writeFileSync(
      join(folder, name),
      content instanceof Uint8Array ? content : JSON.stringify(content),
    );
  write('onnx/encoder_model.onnx', moonshineEncoder(size));
  write('onnx/decoder_model_merged.onnx', whisperDecoder(size));
  write('config.json', {
    model_type: 'moonshine',
    hidden_size: size.modelSize,
    decoder_num_hidden_layers: size.layers,
    decoder_num_attention_heads: size.heads,
    decoder_num_key_value_heads: size.heads,
    vocab_size: size.vocabulary,
    max_position_embeddings: 194,
    decoder_start_token_id: 1,
    eos_token_id: 2,
  });
  const words = Array.from({ length: size.vocabulary - 3 }, (_, index) => `▁word${index}`);
  const pieces = ['<unk>', '<s>', '</s>', ...words];
  write('tokenizer.json', {
    model: { type: 'BPE', vocab: Object.fromEntries(pieces.map((piece, id) => [piece, id])) },
    added_tokens: [0, 1, 2].map((id) => ({ id, content: pieces[id], special: true })),
  });
}

/** `input_values` [B, samples] to `last_hidden_state` [B, steps, d], as long as the sound. */
function moonshineEncoder({ modelSize, hidden }: WhisperSize): Uint8Array {
  const weights = new Weights('float32', 3);
  const graph = new GraphBuilder(weights);
  const sound = graph.op('Unsqueeze', ['input_values', weights.integers(1)]);
  const heard = FILTERS.reduce((x, { kernel, stride }, index) => {
    const inputs = index === 0 ? 1 : modelSize;
    const name = `conv${index}`;
    const matrix = weights.random(
      name,
      [modelSize, inputs, kernel],
      Math.sqrt(3 / inputs / kernel),
    );
    return graph.gelu(graph.op('Conv', [x, matrix], { kernel_shape: [kernel], strides: [stride] }));
  }, sound);
  const steps = graph.op('Transpose', [heard], { perm: [0, 2, 1] });
  const thought = graph.feedForward(
    graph.norm(steps, 'norm1', modelSize),
    'layer',
    modelSize,
    hidden,
  );
  graph.name(
    graph.norm(graph.op('Add', [steps, thought]), 'norm2', modelSize),
    'last_hidden_state',
  );
  return onnxModel({
    nodes: graph.nodes,
    inputs: [{ name: 'input_values', type: 'float32', dims: ['batch', 'samples'] }],
    outputs: [{ name: 'last_hidden_state', type: 'float32', dims: ['batch', 'steps', modelSize] }],
    tensors: weights.tensors,
  });
}

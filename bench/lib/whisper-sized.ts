/** Whisper models of any size with weights that mean nothing, in Hugging Face's layout. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TINY_WHISPER_DIR } from '../../test/speech/spoken-phrases.ts';
import { type DecoderOptions, whisperDecoder } from './whisper-decoder-graph.ts';
import { type EncoderOptions, type WhisperSize, whisperEncoder } from './whisper-encoder-graph.ts';

/** `openai/whisper-base`: 72 million numbers. */
export const WHISPER_BASE: WhisperSize = {
  modelSize: 512,
  heads: 8,
  layers: 6,
  hidden: 2048,
  vocabulary: 51_865,
  melCount: 80,
};

/** The least that is a Whisper; as many tokens as our own tiny one. */
export const WHISPER_LEAST: WhisperSize = {
  modelSize: 16,
  heads: 2,
  layers: 2,
  hidden: 32,
  vocabulary: 1935,
  melCount: 80,
};

/** Options of the written model. */
export interface SizedOptions extends EncoderOptions, DecoderOptions {}

/**
 * Writes a model. Its tokenizer is that of our tiny Whisper: what it says are words, in no order.
 *
 * @param folder made where it is not there.
 */
export function writeWhisper(folder: string, size: WhisperSize, options: SizedOptions = {}): void {
  mkdirSync(join(folder, 'onnx'), { recursive: true });
  const ending = options.precision === 'int8' ? '_quantized' : '';
  const write = (name: string, bytes: Uint8Array | string) =>
    writeFileSync(join(folder, name), bytes);
  write(`onnx/encoder_model${ending}.onnx`, whisperEncoder(size, options));
  write(`onnx/decoder_model_merged${ending}.onnx`, whisperDecoder(size, options));
  const tiny = (name: string) => JSON.parse(readFileSync(join(TINY_WHISPER_DIR, name), 'utf8'));
  write('config.json', JSON.stringify({ ...tiny('config.json'), ...shapesOf(size) }));
  for (const name of ['generation_config.json', 'preprocessor_config.json']) {
    write(name, JSON.stringify(tiny(name)));
  }
  for (const name of ['tokenizer.json', 'tokenizer_config.json']) {
    write(name, readFileSync(join(TINY_WHISPER_DIR, name)));
  }
}

function shapesOf(size: WhisperSize) {
  return {
    d_model: size.modelSize,
    encoder_layers: size.layers,
    decoder_layers: size.layers,
    num_hidden_layers: size.layers,
    encoder_attention_heads: size.heads,
    decoder_attention_heads: size.heads,
    encoder_ffn_dim: size.hidden,
    decoder_ffn_dim: size.hidden,
    vocab_size: size.vocabulary,
    num_mel_bins: size.melCount,
  };
}

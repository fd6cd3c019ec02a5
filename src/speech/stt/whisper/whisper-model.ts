/** A Whisper model in memory: its two graphs on ONNX Runtime, checked against what its configuration says. */
import { graphPath } from '../../models/graph-path.ts';
import { type MergedDecoder, openMergedDecoder } from '../decoding/merged-decoder.ts';
import { type AllowedTokens, allowedTokens } from '../decoding/token-choice.ts';
import { type Encoder, openEncoder } from './encoder.ts';
import type { Tokenizer } from './tokenizer.ts';
import { readWhisperConfig, type WhisperConfig } from './whisper-config.ts';

const MODEL = 'speech model';

export interface WhisperModel {
  readonly config: WhisperConfig;
  readonly tokenizer: Tokenizer;
  readonly encoder: Encoder;
  readonly decoder: MergedDecoder;
  /** Tokens that may be chosen: in Whisper's vocabularies all beyond the end of text are special or timestamps. */
  readonly allowed: AllowedTokens;
  /** As the first token. */
  readonly allowedFirst: AllowedTokens;
  close(): Promise<void>;
}

/**
 * Loads an export in Hugging Face's layout: the JSON files, and `onnx/encoder_model.onnx` and
 * `onnx/decoder_model_merged.onnx`, of which `_quantized` ones are preferred.
 *
 * @throws {ModelFileError}
 * @see huggingface/optimum: WhisperOnnxConfig
 */
export async function loadWhisperModel(modelDir: string, threads: number): Promise<WhisperModel> {
  const { config, tokenizer } = await readWhisperConfig(modelDir);
  const encoder = await openEncoder(graphPath(modelDir, 'encoder_model'), config, threads);
  const decoder = await openMergedDecoder({
    model: MODEL,
    path: graphPath(modelDir, 'decoder_model_merged'),
    threads,
    shape: {
      layers: config.layers,
      heads: config.heads,
      headSize: config.modelSize / config.heads,
    },
  });
  const { endToken: lastToken, suppressedTokens, suppressedFirstTokens } = config;
  return {
    config,
    tokenizer,
    encoder,
    decoder,
    allowed: allowedTokens({ lastToken, suppressed: suppressedTokens }),
    allowedFirst: allowedTokens({
      lastToken,
      suppressed: [...suppressedTokens, ...suppressedFirstTokens],
    }),
    close: async () => {
      await Promise.all([encoder.close(), decoder.session.release()]);
    },
  };
}

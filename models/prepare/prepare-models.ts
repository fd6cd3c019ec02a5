/** Prepares the models of a folder for the server: rewrites graphs that it would run slower as they are exported. */
import { createHash } from 'node:crypto';
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { graphPath, preparedMark, preparedPathOf } from '../../src/speech/models/model-files.ts';
import { whisperEngine } from '../../src/speech/stt/recognizer-engines.ts';
import {
  openEncoderFile,
  readWhisperConfig,
  type WhisperConfig,
} from '../../src/speech/stt/whisper/whisper-model.ts';
import { openSilero } from '../../src/speech/vad/silero/silero-detector.ts';
import { sileroEngine } from '../../src/speech/vad/silero/silero-engine.ts';
import { freeEncoderWindow } from './encoder-window.ts';
import { FIELD } from './onnx/onnx-fields.ts';
import { readGraph } from './onnx/onnx-graph.ts';
import { bytesField, fieldsOf, join } from './onnx/protobuf.ts';
import { answersAlike } from './silero-comparison.ts';
import { readSileroLayers } from './silero-layers.ts';
import { sileroAsProducts } from './silero-products.ts';

/** What Node reads into memory at once; larger exports come in several files anyway. */
const FILE_BYTES_MAX = 2 ** 31 - 1;

/** The result for one export, `path`. */
export type Preparation =
  /** The prepared file is in the export's folder. */
  | { readonly kind: 'prepared'; readonly path: string; readonly isNew: boolean }
  /** The server runs the export as fast as it could be prepared. */
  | { readonly kind: 'not-needed'; readonly path: string }
  /** The server runs the export as it is, slower. */
  | { readonly kind: 'not-possible'; readonly path: string; readonly reason: string };

/**
 * Prepares every Whisper encoder and Silero VAD model of a folder. Each result is tried on ONNX Runtime before it gets
 * its name.
 *
 * @throws {Error} of the file system when a prepared file cannot be written.
 */
export async function prepareModels(modelsDir: string): Promise<readonly Preparation[]> {
  const preparations: Preparation[] = [];
  for (const path of sileroEngine.find(modelsDir)) preparations.push(await prepareSilero(path));
  for (const dir of whisperEngine.find(modelsDir)) preparations.push(await prepareEncoder(dir));
  return preparations;
}

/** Rewrites the layers of one rate as products over all calls of a run. */
async function prepareSilero(path: string): Promise<Preparation> {
  return prepare(path, {
    rewrite: async (content) => {
      const detector = await openSilero(path);
      await detector.close();
      return sileroAsProducts(
        readSileroLayers(readGraph(content), detector.branch),
        detector.branch,
      );
    },
    check: async (newPath) => {
      const [original, rewritten] = [await openSilero(path), await openSilero(newPath)];
      try {
        if (await answersAlike(original, rewritten)) return;
        throw new Error('it answers otherwise than its layers say');
      } finally {
        await Promise.all([original.close(), rewritten.close()]);
      }
    },
  });
}

/** Frees the encoder of its window of 30 s. */
async function prepareEncoder(modelDir: string): Promise<Preparation> {
  const path = graphPath(modelDir, 'encoder_model');
  let config: WhisperConfig;
  try {
    config = (await readWhisperConfig(modelDir)).config;
  } catch (error) {
    return notPossible(path, error);
  }
  const check = async (file: string) => {
    const encoder = await openEncoderFile(file, config, 1);
    await encoder.close();
    if (encoder.isWindowFixed) throw new Error('its shapes are fixed within');
  };
  return prepare(path, {
    rewrite: async (content) => {
      const freed = freeEncoderWindow(content, config);
      if (freed.kind === 'edited') return freed.model;
      if (freed.kind === 'fixed') throw new Error(freed.reason);
      await check(path);
      return null;
    },
    check,
  });
}

interface Steps {
  /** Gives the content of the prepared file; null where the export needs none. */
  rewrite(content: Uint8Array): Promise<Uint8Array | null>;
  /** Throws when the rewritten file does not do what the export does. */
  check(newPath: string): Promise<void>;
}

async function prepare(path: string, { rewrite, check }: Steps): Promise<Preparation> {
  const prepared = preparedPathOf(path);
  let content: Uint8Array;
  try {
    if ((await stat(path)).size > FILE_BYTES_MAX) throw new Error('it is larger than 2 GB');
    const exported = await readFile(path);
    const rewritten = await rewrite(exported);
    if (rewritten === null) return { kind: 'not-needed', path };
    content = withMark(rewritten, createHash('sha256').update(exported).digest('hex'));
  } catch (error) {
    return notPossible(path, error);
  }
  const existing = await readFile(prepared).catch(() => null);
  if (existing?.equals(content)) return { kind: 'prepared', path, isNew: false };
  const newPath = `${prepared}.new`;
  try {
    await writeFile(newPath, content, { flush: true });
    const fault = await check(newPath).then(
      () => null,
      (error: unknown) => notPossible(path, error),
    );
    if (fault !== null) return fault;
    await rename(newPath, prepared);
    return { kind: 'prepared', path, isNew: true };
  } finally {
    await rm(newPath, { force: true });
  }
}

/** Names the preparation and the export as the producer, in the first field, where the server looks. */
function withMark(model: Uint8Array, sha256: string): Uint8Array {
  const others = fieldsOf(model).filter(({ number }) => number !== FIELD.model.producer);
  const mark = bytesField(FIELD.model.producer, preparedMark(sha256));
  return join([mark, ...others.map(({ bytes }) => bytes)]);
}

function notPossible(path: string, error: unknown): Preparation {
  const reason = error instanceof Error ? error.message : String(error);
  return { kind: 'not-possible', path, reason };
}

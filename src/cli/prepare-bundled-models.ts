/** Prepares the models in npm packages once, before the start. The server runs them unprepared where this fails. */
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { prepareModels } from '../../models/prepare/prepare-models.ts';
import { messageOf } from '../lib/unknown-value.ts';
import { findPrepared } from '../speech/models/model-files.ts';
import { BUNDLED_DIR, bundledSilero } from '../speech/vad/silero/silero-engine.ts';

const SILERO = join(BUNDLED_DIR, 'vad/silero-v5/silero_vad.onnx');

/** @returns the line to print. */
async function run(): Promise<string> {
  if (existsSync(SILERO) && (await findPrepared(SILERO)) !== null) {
    return 'Voice detector: prepared already';
  }
  const startedMs = performance.now();
  mkdirSync(dirname(SILERO), { recursive: true });
  copyFileSync(bundledSilero(), SILERO);
  const [preparation] = await prepareModels(BUNDLED_DIR);
  if (preparation?.kind === 'not-possible') throw new Error(preparation.reason);
  return `Voice detector: prepared in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`;
}

try {
  process.stdout.write(`${await run()}\n`);
} catch (error) {
  rmSync(SILERO, { force: true });
  process.stdout.write(
    `Voice detector: not prepared: ${messageOf(error)}; it runs as it is, which is slower\n`,
  );
}

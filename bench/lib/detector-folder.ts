/** A folder of models with one prepared Silero VAD, as the server looks for it. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareModels } from '../../models/prepare/prepare-models.ts';
import { sileroSized } from './silero-sized.ts';

/** @param file of Silero's own; without, the model has its sizes and random weights. */
export async function detectorFolder(
  file: string | undefined,
): Promise<{ readonly path: string; readonly remove: () => void }> {
  const path = mkdtempSync(join(tmpdir(), 'bench-vad-'));
  const model = join(path, 'vad', 'silero_vad.onnx');
  mkdirSync(join(path, 'vad'));
  if (file === undefined) writeFileSync(model, sileroSized());
  else copyFileSync(file, model);
  await prepareModels(path);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

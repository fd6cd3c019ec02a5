/** A folder of models with one voice detector in it, as the server looks for it. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sileroSized } from './silero-sized.ts';

/** @param file of Silero's own; without, the model has its sizes and random weights. */
export function detectorFolder(file: string | undefined): {
  readonly path: string;
  readonly remove: () => void;
} {
  const path = mkdtempSync(join(tmpdir(), 'bench-vad-'));
  const model = join(path, 'vad', 'silero_vad.onnx');
  mkdirSync(join(path, 'vad'));
  if (file === undefined) writeFileSync(model, sileroSized());
  else copyFileSync(file, model);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Which of an export's files to take for one of its graphs. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Endings of the files' names, best first: 8-bit weights are half the time for the same words. */
const VARIANTS = ['_quantized', ''] as const;

/** The path of the best file there is; that of the plain one where there is none. */
export function graphPath(modelDir: string, name: string): string {
  const paths = VARIANTS.map((variant) => join(modelDir, 'onnx', `${name}${variant}.onnx`));
  return paths.find((path) => existsSync(path)) ?? join(modelDir, 'onnx', `${name}.onnx`);
}

/** `npm run bench -- NAME [arguments]`: runs one benchmark, or lists them. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

// ONNX Runtime on Linux reports its use to its maker unless told not to before it is loaded.
// biome-ignore lint/style/noProcessEnv: it is the runtime that reads it, not we
process.env.ORT_DISABLE_TELEMETRY = '1';

interface Bench {
  run(args: readonly string[]): Promise<void>;
}

const NOT_BENCHES = new Set(['run.ts']);

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && !NOT_BENCHES.has(file))
  .map((file) => file.slice(0, -'.ts'.length));

const [name, ...args] = process.argv.slice(2);
const file = join(import.meta.dirname, `${name}.ts`);
if (name === undefined || !names.includes(name) || !existsSync(file)) {
  console.error(`Usage: npm run bench -- NAME [arguments]\nNAME is one of: ${names.join(', ')}`);
  process.exitCode = 64;
} else {
  const bench: Bench = await import(pathToFileURL(file).href);
  await bench.run(args);
}

/** Builds the package: generates what comes from the OpenAPI document, compiles it, and copies the licence. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from '../generator/generate.ts';

const ROOT = join(import.meta.dirname, '../..');

await generate(['typescript']);
rmSync(join(import.meta.dirname, 'dist'), { recursive: true, force: true });
execFileSync(process.execPath, [
  join(ROOT, 'node_modules/typescript/bin/tsc'),
  '-p',
  import.meta.dirname,
]);
copyFileSync(join(ROOT, 'LICENSE'), join(import.meta.dirname, 'LICENSE'));

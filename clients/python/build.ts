/** Builds the package with PyPA's `build`: first generates what comes from the OpenAPI document, and copies the licence. */
import { execFileSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from '../generator/generate.ts';

await generate(['python']);
copyFileSync(join(import.meta.dirname, '../../LICENSE'), join(import.meta.dirname, 'LICENSE'));
execFileSync('python3', ['-m', 'build', import.meta.dirname], { stdio: 'inherit' });

/** Builds the gem: first generates what comes from the OpenAPI document, and copies the licence. */
import { execFileSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from '../generator/generate.ts';

await generate(['ruby']);
copyFileSync(join(import.meta.dirname, '../../LICENSE'), join(import.meta.dirname, 'LICENSE'));
execFileSync('gem', ['build', 'offhook.gemspec'], { cwd: import.meta.dirname, stdio: 'inherit' });

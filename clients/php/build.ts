/** Completes the folder as a package of Composer: generates what comes from the OpenAPI document, and copies the licence. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from '../generator/generate.ts';

await generate(['php']);
copyFileSync(join(import.meta.dirname, '../../LICENSE'), join(import.meta.dirname, 'LICENSE'));

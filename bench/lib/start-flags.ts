/** What `npm start` runs the server with. */
import { readFileSync } from 'node:fs';

const { scripts } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { readonly scripts: { readonly start: string } };

/** The options of Node in package.json's `start`. */
export const START_FLAGS: readonly string[] = scripts.start.match(/--[a-z-]+=\d+/g) ?? [];

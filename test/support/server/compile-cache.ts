/** Where the processes that tests start keep their modules compiled: the second of a kind starts in half the time. */
import { join } from 'node:path';

/** A folder, for `NODE_COMPILE_CACHE`. */
export const COMPILE_CACHE = join(import.meta.dirname, '../../../node_modules/.cache/compiled');

/** libphonenumber, loaded at its first use: its tables of all countries would hold up the start. */
import { createRequire } from 'node:module';
import type * as PhoneLibrary from 'libphonenumber-js/max';

const require = createRequire(import.meta.url);

let library: typeof PhoneLibrary | undefined;

/** The library with its complete tables. The first call takes some 30 ms. */
export function phoneLibrary(): typeof PhoneLibrary {
  library ??= require('libphonenumber-js/max') as typeof PhoneLibrary;
  return library;
}

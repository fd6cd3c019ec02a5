/** Writes the generated parts of the client libraries: `npm run clients`, or `node clients/generator/main.ts LANGUAGE …`. */
import { generate, LANGUAGES, type Language } from './generate.ts';

const isLanguage = (name: string): name is Language => name in LANGUAGES;

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !isLanguage(name));
if (unknown.length > 0) {
  const known = Object.keys(LANGUAGES).join(', ');
  throw new RangeError(`Cannot generate "${unknown.join('", "')}": the languages are ${known}`);
}
for (const file of await generate(asked.filter(isLanguage))) console.log(file);

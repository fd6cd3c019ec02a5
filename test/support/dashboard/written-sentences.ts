/** Finds the sentences that a source file writes out; pure */

const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;

/** Lines of the log have no German. */
const LOG_LINE = /\blog(?:ger)?\.\w+\([\s\S]*?\);/g;

const IMPORT = /^(?:import|\} from) .*$/gm;

const LITERAL = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g;

const PLACE = /\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/g;

/** At least two words of letters. */
const SENTENCE = /[a-z]+ (?:\S+ )*[a-z]+/;

/** Texts of at least two words in a source, with a digit in each place of a template. Comments and log lines are left out. */
export function writtenSentences(source: string): readonly string[] {
  const code = source.replaceAll(COMMENT, '').replaceAll(LOG_LINE, '').replaceAll(IMPORT, '');
  return [...code.matchAll(LITERAL)]
    .map(([, single, double, template]) => single ?? double ?? template ?? '')
    .map((text) => text.replaceAll(PLACE, '7').replaceAll("\\'", "'"))
    .filter((text) => SENTENCE.test(text));
}

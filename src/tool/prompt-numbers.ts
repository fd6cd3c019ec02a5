/** Telephone numbers that a system prompt names as transfer targets; pure */
import { findPhoneNumbersInText } from 'libphonenumber-js/max';

/** Stems of "transfer", "forward" and "put through" in English, French, Spanish, Italian and German. */
const TRANSFER_WORD = /transf[eé]r|trasfer|forward|put through|weiterleit|durchstell|verbind/i;

const MARKDOWN_HEADING = /^\s*#{1,6}\s/;

/** A line that introduces the lines below it, such as `Transfers:`. */
const LABEL_LINE = /:\s*$/;

const SENTENCE_END = /(?<=[.!?])\s+/;

/**
 * Finds the numbers that may be called: in international form (`+39 06 1234 5678`), in a transfer section or in a sentence with
 * a transfer word. A section goes from a Markdown heading with such a word to the next heading, or from a line with such a
 * word and a colon at its end to the next empty line. Every other number in the prompt is only a text: an order
 * number or an opening hour is no transfer target.
 *
 * @returns E.164, in the order of the prompt.
 */
export function transferNumbersInPrompt(systemPrompt: string): string[] {
  const text = transferParts(systemPrompt).join('\n');
  return findPhoneNumbersInText(text).map(({ number }) => number.number);
}

type Section = 'none' | 'label' | 'heading';

function transferParts(prompt: string): string[] {
  let section: Section = 'none';
  return prompt.split('\n').flatMap((line) => {
    section = sectionAfter(line, section);
    if (section !== 'none') return [line];
    return line.split(SENTENCE_END).filter((sentence) => TRANSFER_WORD.test(sentence));
  });
}

/** The section that a line belongs to, given the section of the line before. */
function sectionAfter(line: string, before: Section): Section {
  const hasWord = TRANSFER_WORD.test(line);
  if (MARKDOWN_HEADING.test(line)) return hasWord ? 'heading' : 'none';
  if (before === 'heading') return 'heading';
  if (LABEL_LINE.test(line)) return hasWord ? 'label' : 'none';
  return line.trim() === '' ? 'none' : before;
}

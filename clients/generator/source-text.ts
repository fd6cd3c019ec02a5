/** Pieces of source text that the emitters share; pure */

/** First line of every generated file, without its comment sign. */
export const GENERATED = 'Generated from the OpenAPI document by clients/generator; do not edit.';

/** `hangUp` to `hang_up`. */
export function snakeCase(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
}

/** `smsGateways` to `SmsGateways`. */
export function pascalCase(name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}

/** Puts `by` before each line that is not empty. */
export function indent(text: string, by: string): string {
  return text.replaceAll(/^(?=.)/gm, by);
}

/** Breaks a description into lines of about `width` characters; line ends in it stay. */
export function wrapped(text: string, width: number): readonly string[] {
  return text.split('\n').flatMap((line) => {
    const lines: string[] = [''];
    for (const word of line.split(' ')) {
      const last = lines.at(-1) ?? '';
      if (last !== '' && last.length + 1 + word.length > width) lines.push(word);
      else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
    }
    return lines;
  });
}

/** Summary with a full stop, and description, of an operation. */
export function docsOf({
  summary,
  description,
}: {
  readonly summary: string;
  readonly description: string;
}): string {
  const first = summary === '' || summary.endsWith('.') ? summary : `${summary}.`;
  return description === '' ? first : `${first}\n\n${description}`;
}

/** HTML in which nothing that was put in can be markup; pure */

/** Text that is markup already. Only `html` makes it. */
class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Html = Markup;

type Value = string | number | Html | readonly Html[];

/** Puts values into markup: texts are escaped, for elements and quoted attributes alike; markup goes in as it is. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  const parts = strings.map((text, index) => `${text}${textOf(values[index] ?? '')}`);
  return new Markup(parts.join(''));
}

/** Paragraphs, divided by empty lines, with code between backticks. */
export function prose(text: string): readonly Html[] {
  return text.split('\n\n').map((paragraph) => html`<p>${inline(paragraph)}</p>`);
}

/** One line with code between backticks. */
export function inline(text: string): readonly Html[] {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}

function textOf(value: Value): string {
  if (value instanceof Markup) return value.text;
  if (typeof value === 'object') return value.map(({ text }) => text).join('');
  return String(value).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

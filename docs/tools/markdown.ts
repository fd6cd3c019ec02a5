/** Markdown of generated pages; pure */

/** A page with its title and paragraphs, and the note that it is generated. */
export function page(title: string, paragraphs: readonly string[]): string {
  const note = '*Written from the source by `npm run docs:reference`.*';
  return `${[`# ${title}`, ...paragraphs, note].join('\n\n')}\n`;
}

/** A table; cells may hold anything but a line break. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** A code block in the language `language`. */
export function codeBlock(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}

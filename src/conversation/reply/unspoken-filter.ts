/** Drops text that is never read aloud from a model's stream: code blocks, JSON such as a tool call written as text, tags; pure */

const FENCE = '```';

/** Tags that end a line: words on their two sides are not one. */
const LINE_TAG = /^\/?(?:br|p|div|li|ul|ol|tr|td|th|h[1-6])(?![\p{L}\p{N}])/iu;

/** An address in angle brackets, as Markdown writes links, is no tag. */
const ADDRESS = /^(?:[^\s@]+@[^\s@]+|https?:\/\/\S+)$/;

/** Longest address. */
const TAG_LENGTH_MAX = 200;

/** An open JSON object and its depth in braces. */
interface OpenJson {
  depth: number;
  isInString: boolean;
  isEscaped: boolean;
}

/** One instance per reply. The result does not depend on how the text is cut into chunks. */
export class UnspokenFilter {
  /** Possible beginning of a code block, a tag or a JSON object: backticks, `<`, or `{` with the spaces behind it. */
  #held = '';
  #isInCode = false;
  #isInTag = false;
  /** Beginning of the open tag's text. */
  #tag = '';
  #json: OpenJson | undefined;
  #isLineStart = true;

  /** Takes more text. @returns the part of it that may be spoken. */
  push(text: string): string {
    let spoken = '';
    for (const character of text) spoken += this.#take(character);
    return spoken;
  }

  #take(character: string): string {
    if (this.#json !== undefined) return this.#takeJson(this.#json, character);
    if (character === '`') return this.#takeBacktick();
    const held = this.#held;
    this.#held = '';
    if (this.#isInCode) return '';
    if (this.#isInTag) return this.#takeTag(character);
    if (held.startsWith('{') && character.trim() === '') {
      this.#held = held + character;
      return '';
    }
    if (held.startsWith('{') && character === '"') {
      this.#json = { depth: 1, isInString: true, isEscaped: false };
      return '';
    }
    if (held === '<' && /[\p{L}/|]/u.test(character)) {
      this.#isInTag = true;
      this.#tag = character;
      return '';
    }
    return held + this.#takeText(character);
  }

  #takeBacktick(): string {
    if (this.#isInTag) return '';
    const before = this.#held.startsWith('`') ? '' : this.#held;
    this.#held = before === '' ? `${this.#held}\`` : '`';
    if (this.#held === FENCE) {
      this.#held = '';
      this.#isInCode = !this.#isInCode;
      this.#isLineStart = true;
    }
    return before;
  }

  #takeText(character: string): string {
    if (character === '<') {
      this.#held = '<';
      return '';
    }
    if (character === '{') {
      if (this.#isLineStart) this.#json = { depth: 1, isInString: false, isEscaped: false };
      else this.#held = '{';
      return '';
    }
    // An array of objects begins a line too.
    this.#isLineStart = character === '\n' || (this.#isLineStart && /[\s[]/.test(character));
    return character;
  }

  #takeTag(character: string): string {
    if (character !== '>' && character !== '\n') {
      if (this.#tag.length < TAG_LENGTH_MAX) this.#tag += character;
      return '';
    }
    this.#isInTag = false;
    if (character === '>' && ADDRESS.test(this.#tag)) return this.#tag;
    this.#isLineStart = true;
    return character === '\n' || LINE_TAG.test(this.#tag) ? '\n' : '';
  }

  #takeJson(json: OpenJson, character: string): string {
    if (json.isEscaped) json.isEscaped = false;
    else if (character === '\\' && json.isInString) json.isEscaped = true;
    else if (character === '"') json.isInString = !json.isInString;
    else if (!json.isInString && character === '{') json.depth += 1;
    else if (!json.isInString && character === '}') json.depth -= 1;
    if (json.depth === 0) this.#json = undefined;
    return '';
  }
}

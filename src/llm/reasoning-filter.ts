/** Lets through what a model says, and keeps back what it thinks aloud and the marks of its chat template. */

/** What stands between these is not said: thoughts, and calls that the server did not recognise as such. */
const SILENT_BLOCK = /^<(think|thinking|thought|reasoning|tool_call|tool_response|function_call)>/i;

/** A mark in one piece, such as `<|im_end|>`, `</s>` or `<tool_call>`. "3 < 5" is none. */
const MARK = /^<[/|a-z_][^<>]{0,40}>/i;

/** What may yet become a mark when more comes. */
const MARK_BEGUN = /^<(?:[/|a-z_][^<>\n]{0,40})?$/i;

/** Longer than any closing mark. */
const CLOSING_LENGTH_MAX = 20;

/** A model that thinks for longer than this will not come to an answer. */
const SILENT_LENGTH_MAX = 20_000;

/** One answer as it streams. */
export class ReasoningFilter {
  #rest = '';
  #openBlock: string | undefined;
  #silentLength = 0;
  #hasSaid = false;

  /** Whether anything has been let through. */
  get hasSaid(): boolean {
    return this.#hasSaid;
  }

  /** Whether anything was kept back. */
  get hasThought(): boolean {
    return this.#silentLength > 0;
  }

  /**
   * Takes the next piece.
   *
   * @returns what can be said now; may be empty. White space before the first word is left out.
   * @throws {RangeError} when the model only thinks.
   */
  push(piece: string): string {
    this.#rest += piece;
    let said = '';
    while (this.#rest !== '') {
      const before = this.#rest.length;
      said += this.#openBlock === undefined ? this.#sayOn() : this.#thinkOn(this.#openBlock);
      if (this.#rest.length === before) break;
    }
    return this.#out(said);
  }

  /** The end of the answer: what might have become a mark was none. A thought that broke off stays unsaid. */
  flush(): string {
    const rest = this.#openBlock === undefined ? this.#rest : '';
    this.#rest = '';
    return this.#out(rest);
  }

  #sayOn(): string {
    const at = this.#rest.indexOf('<');
    if (at !== 0) return this.#take(at === -1 ? this.#rest.length : at);
    this.#openBlock = SILENT_BLOCK.exec(this.#rest)?.[1];
    const mark = MARK.exec(this.#rest)?.[0];
    if (mark !== undefined) {
      this.#take(mark.length);
      this.#silentLength += mark.length;
      return '';
    }
    return MARK_BEGUN.test(this.#rest) ? '' : this.#take(1);
  }

  #thinkOn(block: string): string {
    const closing = `</${block}>`;
    const at = this.#rest.toLowerCase().indexOf(closing.toLowerCase());
    const length = at === -1 ? this.#rest.length - CLOSING_LENGTH_MAX : at + closing.length;
    this.#silentLength += this.#take(Math.max(0, length)).length;
    if (at !== -1) this.#openBlock = undefined;
    if (this.#silentLength > SILENT_LENGTH_MAX) throw new RangeError('it only thinks aloud');
    return '';
  }

  #take(length: number): string {
    const taken = this.#rest.slice(0, length);
    this.#rest = this.#rest.slice(length);
    return taken;
  }

  #out(text: string): string {
    const said = this.#hasSaid ? text : text.trimStart();
    this.#hasSaid ||= said !== '';
    return said;
  }
}

/** The figures that a server tells at `/metrics`. */

export class Figures {
  readonly #lines: readonly string[];

  constructor(text: string) {
    this.#lines = text.split('\n').filter((line) => !line.startsWith('#'));
  }

  static async of(server: { readonly baseUrl: string }): Promise<Figures> {
    const response = await fetch(`${server.baseUrl}/metrics`);
    return new Figures(await response.text());
  }

  /** All figures of that name together; with `label`, such as `reason="screened"`, those that have it. */
  sum(name: string, label = ''): number {
    return this.#lines
      .filter((line) => line.split(/[ {]/, 1)[0] === name && line.includes(label))
      .reduce((total, line) => total + Number(line.split(' ').at(-1)), 0);
  }
}

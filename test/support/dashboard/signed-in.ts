/** An operator who has set the password of a new server's dashboard, and keeps cookie and token as the page does. */
import type { TestServer } from '../server/server.ts';

export interface PhoneTicketView {
  readonly ticket: string;
  readonly expiresAt: string;
  readonly url: string;
  readonly uri: string;
  readonly domain: string;
}

const PASSWORD = 'correct horse battery';

export class SignedIn {
  readonly accountId: string;
  readonly #server: TestServer;
  readonly #headers: Readonly<Record<string, string>>;

  private constructor(
    server: TestServer,
    facts: { readonly accountId: string; readonly headers: Readonly<Record<string, string>> },
  ) {
    this.#server = server;
    this.accountId = facts.accountId;
    this.#headers = facts.headers;
  }

  /** With the link that the server has printed. */
  static async at(server: TestServer): Promise<SignedIn> {
    const [, token = ''] = /#\/setup\?token=([\w-]+)/.exec(server.output) ?? [];
    return await SignedIn.#enter(server, '/dashboard/setup', { token, password: PASSWORD });
  }

  /** Once the password is set. */
  static async again(server: TestServer): Promise<SignedIn> {
    return await SignedIn.#enter(server, '/dashboard/login', { password: PASSWORD });
  }

  static async #enter(server: TestServer, path: string, body: unknown): Promise<SignedIn> {
    const response = await fetch(`${server.baseUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: server.baseUrl },
      body: JSON.stringify(body),
    });
    const session = (await response.json()) as {
      readonly csrfToken: string;
      readonly accounts: readonly { readonly id: string }[];
    };
    const [cookie = ''] = response.headers.getSetCookie();
    const headers = {
      'content-type': 'application/json',
      origin: server.baseUrl,
      cookie: cookie.split(';')[0] ?? '',
      'x-csrf-token': session.csrfToken,
    };
    return new SignedIn(server, { accountId: session.accounts[0]?.id ?? '', headers });
  }

  async post(path: string, body?: unknown): Promise<Response> {
    return await fetch(`${this.#server.baseUrl}${path}`, {
      method: 'POST',
      headers: this.#headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** @param wish.isDraft whether the agent is to answer as its draft has it. */
  async ticket(
    agentId: string,
    wish: { readonly environment?: 'live' | 'test'; readonly isDraft?: boolean } = {},
  ): Promise<PhoneTicketView> {
    const { accountId } = this;
    const { environment = 'live', isDraft: draft = false } = wish;
    const asked = { accountId, environment, agentId, draft };
    const response = await this.post('/dashboard/phone', asked);
    if (response.status !== 200) throw new Error(await response.text());
    return (await response.json()) as PhoneTicketView;
  }
}

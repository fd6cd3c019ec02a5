/** Talks to the server: sessions by cookie, `/api` with a key that lives in memory and is renewed before its end, and event streams. */

import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { ApiError, errorOf, isMissing } from './api-error.ts';
import type { Environment, Session } from './api-types.ts';
import type { PhoneTicket } from './phone/phone.ts';

/** Time before its expiry at which a key is renewed. */
const RENEW_MS = 60_000;

const TIMEOUT_MS = 30_000;

/** The longest page of a list that the API gives. */
const PAGE = 100;

export type Query = Readonly<Record<string, string | number | undefined>>;

interface Scope {
  readonly accountId: string;
  readonly environment: Environment;
}

/** Server state that the page may read before signing in. */
export interface AccessState {
  readonly isSetUp: boolean;
  /** Whether signing in takes a name: there are several users. */
  readonly asksName: boolean;
  readonly version: string;
}

interface HeldKey extends Scope {
  readonly key: string;
  readonly expiresAtMs: number;
}

interface Ask {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly query?: Query;
  /** Is sent as JSON, unless it is a form with a file. */
  readonly body?: unknown;
  /** The version that a change is made from: its `updatedAt`. Answers 412 when it is not the newest. */
  readonly ifUpdatedAt?: string;
  readonly signal?: AbortSignal;
  /** The type that is wanted, where the server has several. */
  readonly accept?: string;
  /** Answers with this status are no errors: `/readyz` says 503 with a report. */
  readonly alsoGood?: number;
}

interface ListPage<Item> {
  readonly data: readonly Item[];
  /** Cursor of the next page, in lists that have cursors; null where the list ends. */
  readonly nextCursor?: string | null;
}

type SignedOut = 'left' | 'expired';

interface ApiWorld {
  readonly fetch: typeof fetch;
  readonly nowMs: () => number;
  /** Called when the session has ended: by signing out, or because the server no longer knows it. */
  readonly onSignedOut: (why: SignedOut) => void;
}

export class ApiClient {
  readonly #world: ApiWorld;
  #csrfToken = '';
  #scope: Scope | undefined;
  #key: Promise<HeldKey> | undefined;

  constructor(world: ApiWorld) {
    this.#world = world;
  }

  /** @throws {ApiError} */
  state(): Promise<AccessState> {
    return this.#json('dashboard/state');
  }

  /** The session of the cookie; undefined when there is none. @throws {ApiError} */
  async restore(): Promise<Session | undefined> {
    try {
      return this.#keep(await this.#json<Session>('dashboard/session'));
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return undefined;
      throw error;
    }
  }

  /** @throws {ApiError} */
  setUp(token: string, password: string): Promise<Session> {
    return this.#enter('dashboard/setup', { token, password });
  }

  /**
   * @param name undefined where there is one user only.
   * @throws {ApiError} 401 when name or password are wrong, 429 after too many tries.
   */
  login(password: string, name?: string): Promise<Session> {
    return this.#enter('dashboard/login', { password, name });
  }

  /** Makes the user of an invite, and signs in. @throws {ApiError} 409 when the link works no more. */
  join(token: string, name: string, password: string): Promise<Session> {
    return this.#enter('dashboard/join', { token, name, password });
  }

  /** @throws {ApiError} */
  async logout(): Promise<void> {
    await this.operator('dashboard/logout', {});
    this.#forget('left');
  }

  /** Reads from the dashboard's side of the server. @throws {ApiError} */
  read<Body>(path: string): Promise<Body> {
    return this.#json(path);
  }

  /** Asks the dashboard's side of the server for a change. @throws {ApiError} */
  async operator<Body>(path: string, body: unknown, method: Ask['method'] = 'POST'): Promise<Body> {
    const csrfToken = this.#csrfToken;
    try {
      return await this.#json<Body>(path, { method, body }, { 'X-CSRF-Token': csrfToken });
    } catch (error) {
      // A late 401 for the previous session does not end the current one.
      const isOver = error instanceof ApiError && error.status === 401;
      if (isOver && this.#csrfToken === csrfToken) this.#forget('expired');
      throw error;
    }
  }

  /**
   * Requests the ticket for one call from this page to an agent.
   *
   * @param isDraft whether the agent answers as its draft has it.
   * @throws {ApiError} 404 when there is no such agent or draft, 503 when all lines are taken.
   */
  phoneTicket(agentId: string, isDraft: boolean): Promise<PhoneTicket> {
    return this.operator('dashboard/phone', { ...this.#scope, agentId, draft: isDraft });
  }

  /** Requests from now on are about this account and environment. */
  use(scope: Scope): void {
    this.#scope = scope;
    this.#key = undefined;
  }

  /** A client of the same session for another environment of the account. */
  in(environment: Environment): ApiClient {
    if (this.#scope === undefined) throw new TypeError('The client knows no account yet');
    const other = new ApiClient(this.#world);
    other.#csrfToken = this.#csrfToken;
    other.use({ ...this.#scope, environment });
    return other;
  }

  /** Asks the API, and gives its JSON; undefined for an answer without a body. @throws {ApiError} */
  async api<Body>(path: string, ask: Ask = {}): Promise<Body> {
    return bodyOf<Body>(await this.open(path, ask));
  }

  /** The whole of a list, loaded page by page. @param ask.told called with the count so far. @throws {ApiError} */
  async all<Item>(
    path: string,
    max: number,
    ask: Ask & { readonly told?: (count: number) => void } = {},
  ): Promise<readonly Item[]> {
    const items: Item[] = [];
    let place: Query = { offset: 0 };
    for (;;) {
      const query = { ...ask.query, limit: PAGE, ...place };
      const { data, nextCursor } = await this.api<ListPage<Item>>(path, { ...ask, query });
      items.push(...data);
      ask.told?.(items.length);
      if (data.length < PAGE || items.length >= max || nextCursor === null) return items;
      place = nextCursor === undefined ? { offset: items.length } : { cursor: nextCursor };
    }
  }

  /** Whether the resource exists. @throws {ApiError} */
  async has(path: string, signal: AbortSignal): Promise<boolean> {
    try {
      await this.open(path, { signal });
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  /** Asks the API, and gives the answer itself, for streams and files. @throws {ApiError} */
  async open(path: string, ask: Ask = {}): Promise<Response> {
    const first = await this.#send(path, ask, await this.#heldKey());
    // The server may have been started again, which ends all keys but its own.
    if (first.status !== 401) return good(first, ask);
    this.#key = undefined;
    return good(await this.#send(path, ask, await this.#heldKey()), ask);
  }

  async #enter(path: string, body: object): Promise<Session> {
    return this.#keep(await this.#json<Session>(path, { method: 'POST', body }));
  }

  #keep(session: Session): Session {
    this.#csrfToken = session.csrfToken;
    return session;
  }

  #forget(why: SignedOut): void {
    this.#csrfToken = '';
    this.#key = undefined;
    this.#world.onSignedOut(why);
  }

  /** One request for a key at a time, however many wait for it. */
  async #heldKey(): Promise<string> {
    const pending = this.#key ?? this.#askKey();
    this.#key = pending;
    const held = await pending;
    if (this.#key !== pending) return this.#heldKey();
    if (held.expiresAtMs - RENEW_MS > this.#world.nowMs()) return held.key;
    this.#key = undefined;
    return this.#heldKey();
  }

  #askKey(): Promise<HeldKey> {
    const scope = this.#scope;
    if (scope === undefined) throw new TypeError('The client knows no account yet');
    const asked = this.operator<{ readonly key: string; readonly expiresAt: string }>(
      'dashboard/key',
      scope,
    ).then(({ key, expiresAt }) => ({ ...scope, key, expiresAtMs: Date.parse(expiresAt) }));
    asked.catch(() => {
      if (this.#key === asked) this.#key = undefined;
    });
    return asked;
  }

  async #json<Body>(path: string, ask: Ask = {}, headers = {}): Promise<Body> {
    return bodyOf<Body>(await good(await this.#ask(path, ask, headers), ask));
  }

  #send(path: string, ask: Ask, key: string): Promise<Response> {
    return this.#ask(path, ask, { Authorization: `Bearer ${key}` });
  }

  async #ask(path: string, ask: Ask, headers: Readonly<Record<string, string>>): Promise<Response> {
    const { method = 'GET', query = {}, body, signal, ifUpdatedAt, accept } = ask;
    const isForm = body instanceof FormData;
    const isJson = body !== undefined && !isForm;
    try {
      return await this.#world.fetch(`${path}${queryText(query)}`, {
        method,
        headers: {
          ...headers,
          ...(accept !== undefined && { Accept: accept }),
          ...(ifUpdatedAt !== undefined && { 'If-Match': `"${ifUpdatedAt}"` }),
          ...(isJson && { 'Content-Type': 'application/json' }),
        },
        ...(isForm && { body }),
        ...(isJson && { body: JSON.stringify(body) }),
        signal: signal ?? AbortSignal.timeout(TIMEOUT_MS),
        credentials: 'same-origin',
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      const message = 'The server does not answer';
      throw new ApiError({ status: 0, code: 'UNREACHABLE', message }, { cause: error });
    }
  }
}

async function good(response: Response, { alsoGood }: Ask): Promise<Response> {
  if (!response.ok && response.status !== alsoGood) throw await errorOf(response);
  return response;
}

async function bodyOf<Body>(response: Response): Promise<Body> {
  return (response.status === 204 ? undefined : await response.json()) as Body;
}

/** `?a=1&b=2`; undefined and empty values are left out. */
export function queryText(query: Query): string {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') text.set(name, String(value));
  }
  return text.size === 0 ? '' : `?${text}`;
}

/** Time without data after which the stream is dead: comments come every 15 s. */
const SILENT_MS_MAX = 45_000;

/** Longest event that is read; the server's own are shorter. */
const BUFFER_CHARS_MAX = 4_000_000;

/** An event of the stream as it came. */
export type SseEvent = Pick<EventSourceMessage, 'event' | 'data'>;

/** Resolves when the stream has ended, has been silent for too long, or `signal` is aborted. Rejects when the connection breaks. */
export async function readEvents(
  response: Response,
  onEvent: (event: SseEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) return;
  const parser = createParser({ onEvent, maxBufferSize: BUFFER_CHARS_MAX });
  while (!signal.aborted) {
    const timer = setTimeout(() => void reader.cancel(), SILENT_MS_MAX);
    const { done, value } = await reader.read().finally(() => clearTimeout(timer));
    if (done) return;
    parser.feed(value);
  }
  await reader.cancel();
}

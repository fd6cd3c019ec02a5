/** The dashboard's routes on a real store, and a browser that keeps its cookie. Passwords are hashed cheaply. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { ApiParts } from '../../../src/api/api.ts';
import { Dashboard } from '../../../src/operator/dashboard.ts';
import { addDashboardRoutes } from '../../../src/operator/dashboard-routes.ts';
import type { RunSelfTest } from '../../../src/operator/self-test.ts';
import { openTestApi, type TestApi } from '../api/test-api.ts';
import type { TestStore } from '../store/test-store.ts';

export const PASSWORD = 'correct horse battery';

export interface DashboardWorld {
  readonly api: TestApi;
  readonly dashboard: Dashboard;
  readonly store: TestStore;
  /** Where the page's files are looked for; nothing is there. */
  readonly pageFolder: string;
  /** The token of a new link. */
  readonly token: string;
}

export async function openDashboardWorld(
  given: Partial<Pick<ApiParts, 'log' | 'publicUrl' | 'chat'>> = {},
): Promise<DashboardWorld> {
  let dashboard: Dashboard | undefined;
  const api = await openTestApi((store) => {
    const opened = openDashboard(store);
    dashboard = opened;
    return { ...given, ...routesOf(opened) };
  });
  if (dashboard === undefined) throw new Error('The interface was not made');
  const token = (await dashboard.issueSetupToken()) ?? '';
  return { api, dashboard, store: api.store, pageFolder: pageFolderOf(api.store), token };
}

/** What the interface needs to serve the dashboard's own routes. */
export function routesOf(dashboard: Dashboard): Pick<ApiParts, 'operatorKeys' | 'addRoutes'> {
  return {
    operatorKeys: dashboard.keys,
    addRoutes: (api, deps) => addDashboardRoutes(api, deps, dashboard),
  };
}

/** As a server that starts on the store makes it. */
export function openDashboard(
  store: TestStore,
  runSelfTest: RunSelfTest = async () => ({ isPassed: true, report: 'OK' }),
): Dashboard {
  let made = 0;
  return new Dashboard({
    users: store.users,
    clock: store.clock,
    random: randomBytes,
    newId: (prefix) => {
      made += 1;
      return `${prefix}_dashboard${made}`;
    },
    pageFolder: pageFolderOf(store),
    manualFolder: join(store.folder, 'manual'),
    costLog2: 4,
    runSelfTest,
  });
}

function pageFolderOf(store: TestStore): string {
  return join(store.folder, 'page');
}

export interface Asked {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly remoteAddress?: string;
  /** Sent in the place of the session's own; `null` sends none. */
  readonly csrfToken?: string | null;
}

/** Keeps its cookie and the session's token, as the page does. */
export class Browser {
  readonly #api: TestApi;
  cookie: string | undefined;
  csrfToken: string | undefined;

  constructor(api: TestApi) {
    this.#api = api;
  }

  async ask(method: string, path: string, asked: Asked = {}): Promise<Response> {
    const { body, headers, remoteAddress, csrfToken = this.csrfToken } = asked;
    const response = await this.#api.request(method, path, {
      key: null,
      ...(body === undefined ? {} : { body }),
      ...(remoteAddress === undefined ? {} : { remoteAddress }),
      headers: {
        ...(this.cookie === undefined ? {} : { Cookie: this.cookie }),
        ...(csrfToken == null ? {} : { 'X-CSRF-Token': csrfToken }),
        ...headers,
      },
    });
    const [pair] = (response.headers.get('Set-Cookie') ?? '').split(';');
    if (pair !== undefined && pair !== '') this.cookie = pair;
    return response;
  }

  async json(method: string, path: string, asked: Asked = {}) {
    const response = await this.ask(method, path, asked);
    const body = (await response.json()) as SessionBody;
    this.csrfToken = body.csrfToken ?? this.csrfToken;
    return { status: response.status, body, headers: response.headers };
  }

  setUp(token: string, password = PASSWORD) {
    return this.json('POST', '/dashboard/setup', { body: { token, password } });
  }

  logIn(password = PASSWORD, asked: Asked = {}) {
    return this.json('POST', '/dashboard/login', { body: { password }, ...asked });
  }

  async key(scope: { accountId?: string; environment?: string } = {}): Promise<string> {
    const body = { accountId: 'acct_main', environment: 'live', ...scope };
    const answer = await this.json('POST', '/dashboard/key', { body });
    return answer.body.key;
  }
}

/** What the dashboard's answers may hold. */
export interface SessionBody {
  readonly csrfToken: string;
  readonly accounts: readonly { readonly id: string; readonly name: string }[];
  readonly isSetUp: boolean;
  readonly asksName: boolean;
  readonly user: { readonly id: string; readonly name: string; readonly role: string };
  readonly id: string;
  readonly url: string;
  readonly key: string;
  readonly expiresAt: string;
  readonly error: { readonly code: string; readonly message: string };
}

/** A world whose password is set, and a browser that is signed in. */
export async function openSignedIn(given: Parameters<typeof openDashboardWorld>[0] = {}) {
  const world = await openDashboardWorld(given);
  const browser = new Browser(world.api);
  await browser.setUp(world.token);
  return { ...world, browser };
}

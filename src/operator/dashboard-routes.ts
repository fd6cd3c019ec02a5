/** `/dashboard/…`: setting the operator's password, signing in and out, and the keys that the page asks the API with. */
import { serialize } from 'hono/utils/cookie';
import { z } from 'zod';
import type { ApiApp, ApiContext, ApiDeps } from '../api/api-env.ts';
import { clientAddress, clientOf } from '../api/http/client-address.ts';
import { noBody } from '../api/http/no-body.ts';
import {
  PASSWORD_CHARS_MAX,
  PASSWORD_CHARS_MIN,
  SESSION_LIFE_MS,
} from '../domain/account/operator.ts';
import { BROWSER_DOMAIN } from '../domain/call/live-sound.ts';
import { ServiceError } from '../domain/service-error.ts';
import type { Dashboard } from './dashboard.ts';
import {
  bodyOf,
  COOKIE,
  changingSessionOf,
  cookieOf,
  dashboardBody,
  retrySoon,
  sameOrigin,
  sessionOf,
} from './dashboard-requests.ts';
import { addManualRoutes } from './manual-routes.ts';
import type { OperatorSession } from './operator-sessions.ts';
import { addPageRoutes } from './page-routes.ts';
import { PHONE_PATH } from './phone-sockets.ts';
import { addSelfTestRoutes } from './self-test-routes.ts';

/** What is shown as a password may be anything; only one that is set must keep the rules. */
const shown = z.string().max(PASSWORD_CHARS_MAX);
const chosen = shown.min(PASSWORD_CHARS_MIN);

const setupSchema = z.strictObject({ token: z.string().max(200), password: chosen });
const loginSchema = z.strictObject({ password: shown });
const changeSchema = z.strictObject({ current: shown, next: chosen });
const keySchema = z.strictObject({
  accountId: z.string().max(100),
  environment: z.enum(['live', 'test']),
});

/** What the routes share. */
interface Parts {
  readonly dashboard: Dashboard;
  readonly deps: ApiDeps;
}

/** None of it is in the OpenAPI document: it is no interface for customers. */
export function addDashboardRoutes(api: ApiApp, deps: ApiDeps, dashboard: Dashboard): void {
  const parts = { dashboard, deps };
  api.use('/dashboard/*', sameOrigin(deps.publicUrl), retrySoon, dashboardBody);
  addEntry(api, parts);
  addSession(api, parts);
  addPhoneRoutes(api, deps, dashboard);
  addSelfTestRoutes(api, dashboard);
  addPageRoutes(api, dashboard.files);
  addManualRoutes(api, dashboard.manual);
}

function addEntry(api: ApiApp, parts: Parts): void {
  const { dashboard, deps } = parts;
  const { password, link } = dashboard;

  api.get('/dashboard/state', async (context) =>
    context.json({ isSetUp: (await password.record()) !== undefined, version: deps.version }, 200),
  );

  api.post('/dashboard/setup', async (context) => {
    const given = bodyOf(context, setupSchema);
    if (!link.isGood(given.token)) {
      throw new ServiceError(
        'UNAUTHORIZED',
        'Cannot set the password: the link is used, old or wrong; the server prints a new one when it starts',
      );
    }
    const isFirst = (await password.record()) === undefined;
    const record = isFirst ? await password.set(given.password, undefined) : undefined;
    if (record === undefined) {
      throw new ServiceError('CONFLICT', 'Cannot set the password: there is one already');
    }
    link.close();
    dashboard.guard.signedIn(clientOfRequest(context, deps));
    deps.log.info({ requestId: context.get('requestId') }, 'dashboard: password set');
    return welcome(context, parts, record);
  });

  api.post('/dashboard/login', async (context) => {
    const given = bodyOf(context, loginSchema);
    const record = await recordOf(context, parts, given.password);
    if (record !== undefined) return welcome(context, parts, record);
    throw new ServiceError('UNAUTHORIZED', 'Cannot sign in: the password is wrong');
  });
}

function addSession(api: ApiApp, parts: Parts): void {
  const { dashboard, deps } = parts;
  const { sessions, keys, password } = dashboard;

  api.get('/dashboard/session', async (context) =>
    context.json(await sessionView(await sessionOf(context, sessions), deps), 200),
  );

  api.post('/dashboard/key', async (context) => {
    const { hash } = await changingSessionOf(context, sessions);
    const scope = bodyOf(context, keySchema);
    if ((await deps.accounts.find(scope.accountId)) === undefined) {
      throw new ServiceError('NOT_FOUND', 'Cannot make a key: there is no such account');
    }
    const { keyText, expiresAt } = keys.make(hash, scope);
    return context.json({ key: keyText, expiresAt: expiresAt.toISOString() }, 200);
  });

  api.post('/dashboard/logout', noBody, async (context) => {
    sessions.end((await changingSessionOf(context, sessions)).hash);
    context.header('Set-Cookie', cookieFor('', deps.publicUrl, 0), { append: true });
    return context.body(null, 204);
  });

  api.post('/dashboard/password', async (context) => {
    const { hash } = await changingSessionOf(context, sessions);
    const { current, next } = bodyOf(context, changeSchema);
    const known = await recordOf(context, parts, current);
    // Not 401: the page would take the session for over.
    if (known === undefined) {
      throw new ServiceError('FORBIDDEN', 'Cannot change the password: the current one is wrong');
    }
    const record = await password.set(next, known);
    if (record === undefined) {
      throw new ServiceError('CONFLICT', 'Cannot change the password: it has just been changed');
    }
    sessions.moveTo(hash, record);
    deps.log.info({ requestId: context.get('requestId') }, 'dashboard: password changed');
    return context.body(null, 204);
  });
}

/**
 * Checks a password, held back where there were too many wrong ones.
 *
 * @returns the record of the password that it is; undefined when it is wrong.
 * @throws {ServiceError} RATE_LIMITED, SERVICE_UNAVAILABLE, or CONFLICT when none has been set.
 */
async function recordOf(
  context: ApiContext,
  { dashboard, deps }: Parts,
  given: string,
): Promise<string | undefined> {
  const { guard, password } = dashboard;
  const record = await password.record();
  if (record === undefined) {
    throw new ServiceError(
      'CONFLICT',
      'Cannot sign in: no password has been set; open the link that the server printed at its start',
    );
  }
  const client = clientOfRequest(context, deps);
  refuseTooManyTries(context, guard.waitMs(client));
  const takeBack = guard.begin(client);
  const isRight = await password.isRight(given, record).catch((error: unknown) => {
    takeBack();
    throw error;
  });
  if (!isRight) {
    const requestId = context.get('requestId');
    deps.log.warn({ requestId, client }, 'dashboard: wrong password');
    return undefined;
  }
  takeBack();
  guard.signedIn(client);
  return record;
}

function refuseTooManyTries(context: ApiContext, waitMs: number): void {
  if (waitMs === 0) return;
  const waitSeconds = Math.ceil(waitMs / 1000);
  context.header('Retry-After', String(waitSeconds));
  throw new ServiceError(
    'RATE_LIMITED',
    // The page adds the wait, in the reader's language.
    'Cannot check the password: too many wrong passwords',
  );
}

function clientOfRequest(context: ApiContext, { isTrustedProxy }: ApiDeps): string {
  return clientOf(clientAddress(context, isTrustedProxy));
}

/** Opens a session in the place of the one that the browser had. */
async function welcome(
  context: ApiContext,
  { dashboard, deps }: Parts,
  record: string,
): Promise<Response> {
  const { sessions } = dashboard;
  const before = await sessions.use(cookieOf(context));
  if (before !== undefined) sessions.end(before.hash);
  const { session, cookie } = await sessions.open(record);
  context.header('Set-Cookie', cookieFor(cookie, deps.publicUrl, SESSION_LIFE_MS / 1000), {
    append: true,
  });
  return context.json(await sessionView(session, deps), 200);
}

/** Where PUBLIC_URL has a path, a proxy has put the dashboard below it. */
function cookieFor(value: string, publicUrl: string, maxAgeSeconds: number): string {
  const { protocol, pathname } = new URL(publicUrl);
  const path = `${pathname.replace(/\/$/, '')}/dashboard`;
  const secure = protocol === 'https:';
  const options = {
    path,
    httpOnly: true,
    sameSite: 'Strict',
    secure,
    maxAge: maxAgeSeconds,
  } as const;
  return serialize(COOKIE, value, options);
}

async function sessionView({ csrfToken }: OperatorSession, { accounts }: ApiDeps) {
  const known = (await accounts.list()).map(({ id, name, plan }) => ({ id, name, plan }));
  return { csrfToken, accounts: known, isSetUp: true };
}

const id = z.string().max(100);
const phoneSchema = z.strictObject({
  accountId: id,
  environment: z.enum(['live', 'test']),
  agentId: id,
});

/** `POST /dashboard/phone`: a ticket for one connection that may call one agent from the browser. */
function addPhoneRoutes(api: ApiApp, deps: ApiDeps, { sessions, tickets }: Dashboard): void {
  api.post('/dashboard/phone', async (context) => {
    const { hash: sessionHash } = await changingSessionOf(context, sessions);
    const { agentId, ...scope } = bodyOf(context, phoneSchema);
    if ((await deps.agents.find(scope, agentId)) === undefined) {
      throw new ServiceError(
        'AGENT_NOT_FOUND',
        'Cannot call the agent: the account has no such agent in this environment',
      );
    }
    const { text, expiresAt } = tickets.issue({ scope, agentId, sessionHash });
    const issued = {
      ticket: text,
      expiresAt: expiresAt.toISOString(),
      url: `${socketBaseOf(context, deps.publicUrl)}${PHONE_PATH}?ticket=${text}`,
      uri: `sip:${agentId}@${BROWSER_DOMAIN}`,
      domain: BROWSER_DOMAIN,
    };
    return context.json(issued, 200);
  });
}

/** The page's own origin as a WebSocket's; below PUBLIC_URL's path only where the page came by PUBLIC_URL. */
function socketBaseOf(context: ApiContext, publicUrl: string): string {
  const origin = context.req.header('origin');
  const isPublic = origin === undefined || origin === new URL(publicUrl).origin;
  return (isPublic ? publicUrl : origin).replace(/^http/, 'ws');
}

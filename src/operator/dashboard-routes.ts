/** `/dashboard/…` and `/manual/…`: sessions, users, invites, browser calls and self-test, and the guards of each request. */
import { z } from 'zod';
import type { ApiApp, ApiContext, ApiDeps } from '../api/api-env.ts';
import { noBody } from '../api/http/request-body.ts';
import { type Invite, ROLES, type StoredUser } from '../domain/account/user.ts';
import {
  addInvite,
  changeUser,
  isOpenInvite,
  removeUser,
  replacePassword,
  revokeInvite,
} from '../domain/account/user-changes.ts';
import { existingDraft } from '../domain/agent/agent-version.ts';
import { BROWSER_DOMAIN } from '../domain/call/live-sound.ts';
import { ServiceError } from '../domain/service-error.ts';
import type { Stores } from '../domain/stores.ts';
import { hashOfText, newSecretText } from '../lib/secrets.ts';
import type { Dashboard } from './dashboard.ts';
import {
  bodyOf,
  changingSessionOf,
  dashboardBody,
  requireRole,
  retrySoon,
  sameOrigin,
  sessionOf,
} from './dashboard-requests.ts';
import { addPageRoutes, type BuiltFiles, sendNotBuilt, sendPage } from './pages.ts';
import { PHONE_PATH } from './phone-sockets.ts';
import {
  addSignInRoutes,
  chosenName,
  chosenPassword,
  cookieFor,
  isPasswordOf,
  sessionView,
  shownPassword,
} from './sign-in.ts';

/** Adds the routes of the dashboard. None is in the OpenAPI document: they are no interface for customers. */
export function addDashboardRoutes(api: ApiApp, deps: ApiDeps, dashboard: Dashboard): void {
  const guards = [sameOrigin(deps.publicUrl), retrySoon, dashboardBody] as const;
  api.use('/dashboard/*', ...guards, requireRole(dashboard.sessions));
  addSignInRoutes(api, deps, dashboard);
  addSessionRoutes(api, deps, dashboard);
  addUserRoutes(api, deps, dashboard);
  addPhoneRoutes(api, deps, dashboard);
  addSelfTestRoutes(api, dashboard);
  addPageRoutes(api, dashboard.files);
  addManualRoutes(api, dashboard.manual);
}

const passwordChangeSchema = z.strictObject({ current: shownPassword, next: chosenPassword });

const id = z.string().max(100);

const keySchema = z.strictObject({ accountId: id, environment: z.enum(['live', 'test']) });

const phoneSchema = keySchema.extend({ agentId: id, draft: z.boolean().default(false) });

/** Adds the routes of a session: its view, API keys for the page, its end, and a new password. */
function addSessionRoutes(api: ApiApp, deps: ApiDeps, dashboard: Dashboard): void {
  const { sessions, keys } = dashboard;

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
    const { hash, user } = await changingSessionOf(context, sessions);
    const { current, next } = bodyOf(context, passwordChangeSchema);
    // Not 401: the page would take the session for over.
    const shown = { user, name: user.name, password: current };
    if (!(await isPasswordOf(context, { dashboard, deps }, shown))) {
      throw new ServiceError('FORBIDDEN', 'Cannot change the password: the current one is wrong');
    }
    const record = await dashboard.passwords.record(next);
    const known = user.password ?? '';
    const changed = await deps.transaction(({ users }) =>
      replacePassword(user.id, record, { users, known }),
    );
    if (changed === undefined) {
      throw new ServiceError('CONFLICT', 'Cannot change the password: it has just been changed');
    }
    sessions.moveTo(hash, changed);
    deps.log.info({ requestId: context.get('requestId') }, 'dashboard: password changed');
    return context.body(null, 204);
  });
}

/** A ticket for one connection that may call one agent from the browser. */
function addPhoneRoutes(api: ApiApp, deps: ApiDeps, { sessions, tickets }: Dashboard): void {
  api.post('/dashboard/phone', async (context) => {
    const { hash: sessionHash } = await changingSessionOf(context, sessions);
    const { agentId, draft: isDraft, ...scope } = bodyOf(context, phoneSchema);
    if ((await deps.agents.find(scope, agentId)) === undefined) {
      throw new ServiceError(
        'AGENT_NOT_FOUND',
        'Cannot call the agent: the account has no such agent in this environment',
      );
    }
    if (isDraft) existingDraft(await deps.agentDrafts.find(scope, agentId));
    const { text, expiresAt } = tickets.issue({ scope, agentId, isDraft, sessionHash });
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

/** Starts the self-test, and tells its state and newest report. */
function addSelfTestRoutes(api: ApiApp, { sessions, selfTest }: Dashboard): void {
  const view = () => {
    const { state, startedAt, report } = selfTest.state;
    return { state, startedAt: startedAt?.toISOString() ?? null, report };
  };

  api.get('/dashboard/self-test', async (context) => {
    await sessionOf(context, sessions);
    return context.json(view(), 200);
  });

  api.post('/dashboard/self-test', noBody, async (context) => {
    await changingSessionOf(context, sessions);
    if (!selfTest.start()) {
      throw new ServiceError('CONFLICT', 'Cannot start the self-test: it is under way');
    }
    return context.json(view(), 202);
  });
}

const MANUAL_POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'connect-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

/** The manual loads from this server alone, its search too. */
function addManualRoutes(api: ApiApp, files: BuiltFiles): void {
  // Links of the pages are relative to the folder. So is the redirect: a proxy may serve the dashboard under a path of its own.
  api.get('/manual', (context) => context.body(null, 308, { Location: 'manual/' }));

  api.get('/manual/*', (context) => {
    if (!files.isBuilt) return sendNotBuilt(context, { title: 'manual', policy: MANUAL_POLICY });
    const file = files.file(context.req.path.slice('/manual/'.length) || 'index.html');
    if (file === undefined) {
      throw new ServiceError('NOT_FOUND', 'Cannot find this page of the manual: see /manual/');
    }
    return sendPage(context, file, { cacheControl: 'no-cache', policy: MANUAL_POLICY });
  });
}

const role = z.enum(ROLES);

const inviteSchema = z.strictObject({ role });

const userChangeSchema = z
  .strictObject({
    name: chosenName.optional(),
    role: role.optional(),
    isDisabled: z.boolean().optional(),
  })
  .refine((change) => Object.keys(change).length > 0, 'expected one field at least');

/** Reached by admins alone: see the role table. */
export function addUserRoutes(api: ApiApp, deps: ApiDeps, dashboard: Dashboard): void {
  api.get('/dashboard/users', async (context) => {
    const { users } = dashboard;
    const now = deps.clock.now();
    const invites = (await users.invites()).filter((invite) => isOpenInvite(invite, now));
    const body = { users: (await users.list()).map(userView), invites: invites.map(inviteView) };
    return context.json(body, 200);
  });

  const changing = async (context: ApiContext) => {
    const { user: by } = await changingSessionOf(context, dashboard.sessions);
    return (stores: Stores) => ({ users: stores.users, by, now: deps.clock.now() });
  };

  api.patch('/dashboard/users/:userId', async (context) => {
    const by = await changing(context);
    const change = bodyOf(context, userChangeSchema);
    const userId = context.req.param('userId');
    const user = await deps.transaction((stores) => changeUser(userId, change, by(stores)));
    return context.json(userView(user), 200);
  });

  api.delete('/dashboard/users/:userId', noBody, async (context) => {
    const by = await changing(context);
    const userId = context.req.param('userId');
    await deps.transaction((stores) => removeUser(userId, by(stores)));
    return context.body(null, 204);
  });

  api.post('/dashboard/invites', async (context) => {
    const by = await changing(context);
    const secret = newSecretText(deps.random);
    const facts = { id: deps.newId('inv'), hash: hashOfText(secret) };
    const draft = { ...facts, ...bodyOf(context, inviteSchema) };
    const invite = await deps.transaction((stores) => addInvite(draft, by(stores)));
    context.set('auditResource', invite.id);
    return context.json({ ...inviteView(invite), url: joinUrl(deps.publicUrl, secret) }, 201);
  });

  api.delete('/dashboard/invites/:inviteId', noBody, async (context) => {
    const by = await changing(context);
    const inviteId = context.req.param('inviteId');
    await deps.transaction((stores) => revokeInvite(inviteId, by(stores)));
    return context.body(null, 204);
  });
}

/** The secret is behind the `#`: browsers send that part to no server, so proxies do not log it. */
function joinUrl(publicUrl: string, secret: string): string {
  return `${publicUrl}/#/join?token=${secret}`;
}

function userView(user: StoredUser) {
  const { id, name, role, createdAt, lastSignInAt, disabledAt } = user;
  return { id, name, role, createdAt, lastSignInAt, disabledAt };
}

function inviteView({ id, role, createdBy, createdAt, expiresAt }: Invite) {
  return { id, role, createdBy, createdAt, expiresAt };
}

/** Signing in: passwords checked with back-off, the session that follows, first passwords and invites. */
import { serialize } from 'hono/utils/cookie';
import { z } from 'zod';
import type { ApiApp, ApiContext, ApiDeps } from '../api/api-env.ts';
import { clientAddress, clientOf } from '../api/http/request-identity.ts';
import {
  FIRST_USER_NAME,
  isAdmin,
  isSetUp,
  PASSWORD_CHARS_MAX,
  PASSWORD_CHARS_MIN,
  type Role,
  SESSION_LIFE_MS,
  type StoredUser,
  USER_NAME,
  USER_NAME_CHARS_MAX,
  userNamed,
  userNameKey,
} from '../domain/account/user.ts';
import { addUser, openInvite, replacePassword } from '../domain/account/user-changes.ts';
import { ServiceError } from '../domain/service-error.ts';
import type { Stores } from '../domain/stores.ts';
import { hashOfText } from '../lib/secrets.ts';
import type { Dashboard } from './dashboard.ts';
import { bodyOf, COOKIE, cookieOf } from './dashboard-requests.ts';
import type { OperatorSession } from './operator-sessions.ts';

/** Parts that the routes of sign-in and session share. */
interface SignInParts {
  readonly dashboard: Dashboard;
  readonly deps: ApiDeps;
}

/** A password to be checked: any text. Only a new one must keep the rules. */
export const shownPassword = z.string().max(PASSWORD_CHARS_MAX);

/** A password that a user chooses. */
export const chosenPassword = shownPassword.min(PASSWORD_CHARS_MIN);

/**
 * Checks a password, held back where there were too many wrong ones.
 *
 * @param user undefined where there is no such user: then no password is right, after as much time.
 * @throws {ServiceError} RATE_LIMITED, SERVICE_UNAVAILABLE.
 */
export async function isPasswordOf(
  context: ApiContext,
  parts: SignInParts,
  shown: {
    readonly user: StoredUser | undefined;
    /** Name as it was typed, where there is no such user. */
    readonly name: string;
    readonly password: string;
  },
): Promise<boolean> {
  const { passwords } = parts.dashboard;
  const record = shown.user?.password ?? null;
  const subject = userNameKey(shown.user?.name ?? shown.name);
  const check = () => passwords.isRight(shown.password, record);
  const isRight = await guarded(context, parts, { subject, check });
  if (isRight) return true;
  const client = clientOf(clientAddress(context, parts.deps.isTrustedProxy));
  const facts = { requestId: context.get('requestId'), client };
  parts.deps.log.warn(facts, 'dashboard: wrong password');
  return false;
}

/**
 * Runs a check of a guessable secret: counts wrong tries, and refuses after too many.
 *
 * @param guess.subject the secret that is guessed: a user's own sign-in must not forgive guesses at another's password.
 * @returns what the check found; false counts as a wrong try, an error does not.
 * @throws {ServiceError} RATE_LIMITED, and errors of the check.
 */
async function guarded(
  context: ApiContext,
  parts: SignInParts,
  guess: { readonly subject: string; readonly check: () => Promise<boolean> },
): Promise<boolean> {
  const { guard } = parts.dashboard;
  const client = guessedBy(context, parts, guess.subject);
  refuseTooManyTries(context, guard.waitMs(client));
  const takeBack = guard.begin(client);
  const isRight = await guess.check().catch((error: unknown) => {
    takeBack();
    throw error;
  });
  if (!isRight) return false;
  takeBack();
  guard.signedIn(client);
  return true;
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

/** Key that wrong tries are counted by: the client address and what is guessed. */
function guessedBy(
  context: ApiContext,
  { deps }: Pick<SignInParts, 'deps'>,
  subject: string,
): string {
  return `${clientOf(clientAddress(context, deps.isTrustedProxy))} ${subject}`;
}

/** Opens a session; it replaces the browser's former one. */
async function welcome(
  context: ApiContext,
  { dashboard, deps }: SignInParts,
  user: StoredUser,
): Promise<Response> {
  const { sessions, users } = dashboard;
  const before = await sessions.use(cookieOf(context));
  if (before !== undefined) sessions.end(before.hash);
  await users.signedIn(user.id, deps.clock.now());
  const { session, cookie } = await sessions.open(user);
  context.set('user', user);
  context.header('Set-Cookie', cookieFor(cookie, deps.publicUrl, SESSION_LIFE_MS / 1000), {
    append: true,
  });
  return context.json(await sessionView(session, deps), 200);
}

/** The cookie of a session. Where PUBLIC_URL has a path, a proxy has put the dashboard below it. */
export function cookieFor(value: string, publicUrl: string, maxAgeSeconds: number): string {
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

/** View of a session for the page. */
export async function sessionView({ csrfToken, user }: OperatorSession, { accounts }: ApiDeps) {
  const known = (await accounts.list()).map(({ id, name, plan }) => ({ id, name, plan }));
  const { id, name, role } = user;
  return { csrfToken, accounts: known, isSetUp: true, user: { id, name, role } };
}

const token = z.string().max(200);

/** A user's name as it is chosen. */
export const chosenName = z
  .string()
  .trim()
  .normalize('NFC')
  .max(USER_NAME_CHARS_MAX)
  .regex(USER_NAME, {
    message: 'expected letters, digits, spaces and . _ @ + -, beginning with a letter or digit',
  });

const setupSchema = z.strictObject({ token, password: chosenPassword });
const loginSchema = z.strictObject({
  name: z.string().max(USER_NAME_CHARS_MAX).optional(),
  password: shownPassword,
});
const joinSchema = z.strictObject({ token, name: chosenName, password: chosenPassword });

/** Adds sign-in, sign-out, invites and the first password. */
export function addSignInRoutes(api: ApiApp, deps: ApiDeps, dashboard: Dashboard): void {
  const parts = { dashboard, deps };

  api.get('/dashboard/state', async (context) => {
    const users = await dashboard.users.list();
    const state = { isSetUp: isSetUp(users), asksName: users.length > 1, version: deps.version };
    return context.json(state, 200);
  });

  addSetup(api, parts);
  addLogin(api, parts);
  addJoin(api, parts);
}

function addSetup(api: ApiApp, parts: SignInParts): void {
  const { dashboard, deps } = parts;
  const { guard, link, passwords, users } = dashboard;

  api.post('/dashboard/setup', async (context) => {
    const given = bodyOf(context, setupSchema);
    if (!link.isGood(given.token)) {
      throw new ServiceError(
        'UNAUTHORIZED',
        'Cannot set the password: the link is used, old or wrong; the server prints a new one when it starts',
      );
    }
    refuseSecondSetup(await users.list());
    const record = await passwords.record(given.password);
    const user = await deps.transaction((stores) => firstAdmin(stores, parts, record));
    link.close();
    guard.signedIn(guessedBy(context, parts, userNameKey(user.name)));
    deps.log.info({ requestId: context.get('requestId') }, 'dashboard: password set');
    return welcome(context, parts, user);
  });
}

function refuseSecondSetup(users: readonly StoredUser[]): void {
  if (!isSetUp(users)) return;
  throw new ServiceError('CONFLICT', 'Cannot set the password: there is one already');
}

/** The admin whose password was reset, or a new one. */
async function firstAdmin(
  { users }: Stores,
  { deps }: SignInParts,
  password: string,
): Promise<StoredUser> {
  const known = await users.list();
  refuseSecondSetup(known);
  const admin = known.find(isAdmin);
  const kept = admin && (await replacePassword(admin.id, password, { users }));
  return kept ?? addUser(users, newUser(deps, { name: FIRST_USER_NAME, role: 'admin', password }));
}

function newUser(
  { newId, clock }: ApiDeps,
  facts: { readonly name: string; readonly role: Role; readonly password: string },
): StoredUser {
  const dates = { createdAt: clock.now(), lastSignInAt: null, disabledAt: null };
  return { ...facts, ...dates, id: newId('usr'), stamp: 1 };
}

function addLogin(api: ApiApp, parts: SignInParts): void {
  const { users } = parts.dashboard;

  api.post('/dashboard/login', async (context) => {
    const { name = '', password } = bodyOf(context, loginSchema);
    const known = await users.list();
    if (!isSetUp(known)) {
      throw new ServiceError(
        'CONFLICT',
        'Cannot sign in: no password has been set; open the link that the server printed at its start',
      );
    }
    const user = userNamed(known, name === '' ? undefined : name);
    context.set('auditResource', user?.id);
    if (!(await isPasswordOf(context, parts, { user, name, password })) || user === undefined) {
      const what = known.length > 1 ? 'the name or the password' : 'the password';
      throw new ServiceError('UNAUTHORIZED', `Cannot sign in: ${what} is wrong`);
    }
    if (user.disabledAt !== null) {
      throw new ServiceError('FORBIDDEN', 'Cannot sign in: an admin has disabled this user');
    }
    return welcome(context, parts, user);
  });
}

function addJoin(api: ApiApp, parts: SignInParts): void {
  const { dashboard, deps } = parts;

  api.post('/dashboard/join', async (context) => {
    const given = bodyOf(context, joinSchema);
    const hash = hashOfText(given.token);
    const now = deps.clock.now();
    const check = async () => (await dashboard.users.inviteOf(hash)) !== undefined;
    await guarded(context, parts, { subject: 'invite', check });
    // Before the costly hash, and once more in the transaction.
    await openInvite(hash, { users: dashboard.users, now });
    const password = await dashboard.passwords.record(given.password);
    const user = await deps.transaction(async ({ users }) => {
      const invite = await openInvite(hash, { users, now });
      const { name } = given;
      const added = await addUser(users, newUser(deps, { name, role: invite.role, password }));
      await users.updateInvite({ ...invite, usedAt: now });
      return added;
    });
    context.set('auditResource', user.id);
    deps.log.info(
      { requestId: context.get('requestId'), userId: user.id },
      'dashboard: user joined',
    );
    return welcome(context, parts, user);
  });
}

/** Signing in: passwords checked with back-off, and the session that follows. */
import { serialize } from 'hono/utils/cookie';
import { z } from 'zod';
import type { ApiContext, ApiDeps } from '../api/api-env.ts';
import { clientAddress, clientOf } from '../api/http/client-address.ts';
import {
  PASSWORD_CHARS_MAX,
  PASSWORD_CHARS_MIN,
  SESSION_LIFE_MS,
} from '../domain/account/operator.ts';
import { type StoredUser, userNameKey } from '../domain/account/user.ts';
import { ServiceError } from '../domain/service-error.ts';
import type { Dashboard } from './dashboard.ts';
import { COOKIE, cookieOf } from './dashboard-requests.ts';
import type { OperatorSession } from './operator-sessions.ts';

/** What the routes of sign-in and session share. */
export interface SignInParts {
  readonly dashboard: Dashboard;
  readonly deps: ApiDeps;
}

/** What is shown as a password may be anything; only one that is set must keep the rules. */
export const shownPassword = z.string().max(PASSWORD_CHARS_MAX);

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
    /** As it was typed, where there is no such user. */
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
 * Runs a check that a guesser may try: held back after too many that failed, and counted.
 *
 * @param guess.subject what is guessed: a user's own sign-in must not forgive guesses at another's password.
 * @returns what the check found; false counts as a wrong try, an error does not.
 * @throws {ServiceError} RATE_LIMITED, and errors of the check.
 */
export async function guarded(
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

/** What wrong tries of a request count for: its client address and what it guesses. */
export function guessedBy(
  context: ApiContext,
  { deps }: Pick<SignInParts, 'deps'>,
  subject: string,
): string {
  return `${clientOf(clientAddress(context, deps.isTrustedProxy))} ${subject}`;
}

/** Opens a session in the place of the one that the browser had. */
export async function welcome(
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

/** What the page learns of its session. */
export async function sessionView({ csrfToken, user }: OperatorSession, { accounts }: ApiDeps) {
  const known = (await accounts.list()).map(({ id, name, plan }) => ({ id, name, plan }));
  const { id, name, role } = user;
  return { csrfToken, accounts: known, isSetUp: true, user: { id, name, role } };
}

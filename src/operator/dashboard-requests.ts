/** Requirements on every request of the dashboard: an origin that is ours, a small JSON body, a session, its token. */
import { parse } from 'hono/utils/cookie';
import type { ZodType } from 'zod';
import type { ApiContext, Guard } from '../api/api-env.ts';
import { checkRole, isForAnyone } from '../api/http/access.ts';
import { invalidInput, unreadableBody } from '../api/http/errors.ts';
import { isJson, limitBody, parsedJson } from '../api/http/request-body.ts';
import { ServiceError } from '../domain/service-error.ts';
import { isSameSecret } from '../lib/secrets.ts';
import type { OperatorSession, OperatorSessions } from './operator-sessions.ts';

/** Name of the session cookie. */
export const COOKIE = 'offhook_session';

const CSRF_HEADER = 'X-CSRF-Token';

/** A password of 200 characters, each of them written as an escape, and some room. */
const BODY_BYTES_MAX = 8 * 1024;

/** Refuses requests from pages of other origins, by the Origin header that browsers send. */
export function sameOrigin(publicUrl: string): Guard {
  return ({ req }, next) => {
    const { host } = new URL(req.url);
    if (!isOurOrigin(req.header('origin'), { publicUrl, host })) {
      throw new ServiceError(
        'FORBIDDEN',
        'Cannot take a request of another page: its Origin is neither PUBLIC_URL nor this server',
      );
    }
    return next();
  };
}

/**
 * Whether a request is of our own page, or of no page at all.
 *
 * @param ours.host of the address that is asked: the page came from there, and the scheme may be a proxy's.
 */
export function isOurOrigin(
  origin: string | undefined,
  ours: { readonly publicUrl: string; readonly host: string | undefined },
): boolean {
  if (origin === undefined || origin === new URL(ours.publicUrl).origin) return true;
  return URL.canParse(origin) && new URL(origin).host === ours.host;
}

/** Time that the password checks in progress take when no more can wait. */
const RETRY_AFTER_SECONDS = 5;

/** Says in a 503 when the password checks that wait now are over. */
export const retrySoon: Guard = (context, next) => {
  context.set('retryAfterSeconds', RETRY_AFTER_SECONDS);
  return next();
};

/** Guard: bounds the body of requests of the dashboard. */
export const dashboardBody = limitBody({
  bytesMax: BODY_BYTES_MAX,
  message: 'expected 8 KiB at most',
});

/** Reads a JSON body. Demands the JSON content type, which a form of another page cannot send. */
export function bodyOf<Body>(context: ApiContext, schema: ZodType<Body>): Body {
  if (!isJson(context)) throw unreadableBody('Content-Type', 'expected application/json');
  const result = schema.safeParse(parsedJson(context.get('bodyText')));
  if (!result.success) throw invalidInput('json', result.error);
  return result.data;
}

/** The secret of the session that the browser keeps; empty without one. */
export function cookieOf({ req }: ApiContext): string {
  return parse(req.header('cookie') ?? '', COOKIE)[COOKIE] ?? '';
}

/** @throws {ServiceError} UNAUTHORIZED when the cookie is missing, unknown or old. */
export async function sessionOf(
  context: ApiContext,
  sessions: OperatorSessions,
): Promise<OperatorSession> {
  const session = await sessions.use(cookieOf(context));
  if (session === undefined) {
    throw new ServiceError('UNAUTHORIZED', 'Cannot go on: you are not signed in');
  }
  return session;
}

/**
 * The session of a request that changes something.
 *
 * @throws {ServiceError} UNAUTHORIZED without a session, FORBIDDEN without its token.
 */
export async function changingSessionOf(
  context: ApiContext,
  sessions: OperatorSessions,
): Promise<OperatorSession> {
  const session = await sessionOf(context, sessions);
  if (!isSameSecret(context.req.header('x-csrf-token') ?? '', session.csrfToken)) {
    throw new ServiceError(
      'FORBIDDEN',
      `Cannot take the request: the header ${CSRF_HEADER} is missing or not the session's`,
    );
  }
  return session;
}

/** Lets requests pass that the user's role allows, or that need no session. Sets `user`. */
export function requireRole(sessions: OperatorSessions): Guard {
  return async (context, next) => {
    if (!isForAnyone(context)) {
      const { user } = await sessionOf(context, sessions);
      context.set('user', user);
      checkRole(context, user);
    }
    return next();
  };
}

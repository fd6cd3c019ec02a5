/** What every request of the dashboard must bring: an origin that is ours, a small JSON body, a session, its token. */
import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { getCookie } from 'hono/cookie';
import type { ZodType } from 'zod';
import { ServiceError } from '../../domain/service-error.ts';
import type { ApiContext, ApiEnv } from '../api-env.ts';
import { invalidInput } from '../middleware/errors.ts';
import { parsedJson } from '../parsed-json.ts';
import type { OperatorSession, OperatorSessions } from './operator-sessions.ts';
import { isSameText } from './secret-text.ts';

export const COOKIE = 'offhook_session';

export const CSRF_HEADER = 'X-CSRF-Token';

/** A password of 200 characters, each of them written as an escape, and some room. */
const BODY_BYTES_MAX = 8 * 1024;

const JSON_TYPE = /^application\/json\s*(;|$)/i;

/** Refuses what another page asks: browsers say whose page it is. */
export function sameOrigin(publicUrl: string): MiddlewareHandler<ApiEnv> {
  return async (context, next) => {
    const { host } = new URL(context.req.url);
    if (!isOurOrigin(context.req.header('Origin'), { publicUrl, host })) {
      throw new ServiceError(
        'FORBIDDEN',
        'Cannot take a request of another page: its Origin is neither PUBLIC_URL nor this server',
      );
    }
    await next();
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

export const limitDashboardBody: MiddlewareHandler = bodyLimit({
  maxSize: BODY_BYTES_MAX,
  onError: (context) => {
    // The rest of the body stays unread, so the connection cannot carry another request.
    context.header('Connection', 'close');
    throw refusal('', 'expected 8 KiB at most');
  },
});

/** As long as the passwords take that are being checked when no more can wait. */
const RETRY_AFTER_SECONDS = '5';

/** Says when to come again, where there is too much to do. */
export const retryLater: MiddlewareHandler<ApiEnv> = async (context, next) => {
  await next();
  if (context.res.status === 503) context.header('Retry-After', RETRY_AFTER_SECONDS);
};

/** Reads a JSON body. Demands its type: a form of another page can send anything but that. */
export async function bodyOf<Body>(context: ApiContext, schema: ZodType<Body>): Promise<Body> {
  if (!JSON_TYPE.test(context.req.header('Content-Type') ?? '')) {
    throw refusal('Content-Type', 'expected application/json');
  }
  const result = schema.safeParse(parsedJson(await context.req.text()));
  if (!result.success) throw invalidInput('json', result.error);
  return result.data;
}

function refusal(path: string, message: string): ServiceError {
  const details = [{ path, message }];
  return new ServiceError('VALIDATION_ERROR', `Cannot read the body: ${message}`, details);
}

/** @throws {ServiceError} UNAUTHORIZED when the cookie is missing, unknown or old. */
export function sessionOf(context: ApiContext, sessions: OperatorSessions): OperatorSession {
  const session = sessions.use(getCookie(context, COOKIE) ?? '');
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
export function changingSessionOf(
  context: ApiContext,
  sessions: OperatorSessions,
): OperatorSession {
  const session = sessionOf(context, sessions);
  if (!isSameText(context.req.header(CSRF_HEADER) ?? '', session.csrfToken)) {
    throw new ServiceError(
      'FORBIDDEN',
      `Cannot take the request: the header ${CSRF_HEADER} is missing or not the session's`,
    );
  }
  return session;
}

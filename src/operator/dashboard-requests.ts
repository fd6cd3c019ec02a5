/** What every request of the dashboard must bring: an origin that is ours, a small JSON body, a session, its token. */
import { parse } from 'hono/utils/cookie';
import type { ZodType } from 'zod';
import type { ApiContext, Guard } from '../api/api-env.ts';
import { invalidInput } from '../api/http/errors.ts';
import { readText } from '../api/http/limit-body.ts';
import { parsedJson, unreadableBody } from '../api/http/parsed-json.ts';
import { plainMessage } from '../api/http/plain-message.ts';
import { ServiceError } from '../domain/service-error.ts';
import type { OperatorSession, OperatorSessions } from './operator-sessions.ts';
import { isSameText } from './secret-text.ts';

export const COOKIE = 'offhook_session';

export const CSRF_HEADER = 'X-CSRF-Token';

/** A password of 200 characters, each of them written as an escape, and some room. */
const BODY_BYTES_MAX = 8 * 1024;

const JSON_TYPE = /^application\/json\s*(;|$)/i;

/** Refuses what another page asks: browsers say whose page it is. */
export function sameOrigin(publicUrl: string): Guard {
  return ({ request }) => {
    const { host } = request;
    if (!isOurOrigin(request.header('origin'), { publicUrl, host })) {
      throw new ServiceError(
        'FORBIDDEN',
        'Cannot take a request of another page: its Origin is neither PUBLIC_URL nor this server',
      );
    }
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

/** As long as the passwords take that are being checked when no more can wait. */
const RETRY_AFTER_SECONDS = 5;

/** Reads a small body, and says when to come again where there is too much to do. */
export async function dashboardBody(context: ApiContext): Promise<void> {
  context.retryAfterSeconds = RETRY_AFTER_SECONDS;
  if (['GET', 'HEAD'].includes(context.request.method)) return;
  await readText(context, { bytesMax: BODY_BYTES_MAX, message: 'expected 8 KiB at most' });
}

/** Reads a JSON body. Demands its type: a form of another page can send anything but that. */
export function bodyOf<Body>({ request, bodyText }: ApiContext, schema: ZodType<Body>): Body {
  if (!JSON_TYPE.test(request.header('content-type') ?? '')) {
    throw unreadableBody('Content-Type', 'expected application/json');
  }
  const result = schema.safeParse(parsedJson(bodyText), { error: plainMessage });
  if (!result.success) throw invalidInput('json', result.error);
  return result.data;
}

/** The secret of the session that the browser keeps; empty without one. */
export function cookieOf({ request }: ApiContext): string {
  return parse(request.header('cookie') ?? '', COOKIE)[COOKIE] ?? '';
}

/** @throws {ServiceError} UNAUTHORIZED when the cookie is missing, unknown or old. */
export function sessionOf(context: ApiContext, sessions: OperatorSessions): OperatorSession {
  const session = sessions.use(cookieOf(context));
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
  if (!isSameText(context.request.header('x-csrf-token') ?? '', session.csrfToken)) {
    throw new ServiceError(
      'FORBIDDEN',
      `Cannot take the request: the header ${CSRF_HEADER} is missing or not the session's`,
    );
  }
  return session;
}

/** Id, client address, matched routes, headers, log line and metrics of every request; the request log and the audit log. */

import { isIP } from 'node:net';
import { matchedRoutes } from 'hono/route';
import { type AuditEntry, isAudited, resourceOf } from '../../domain/account/audit-log.ts';
import { isListed, type RequestEntry } from '../../domain/account/request-log.ts';
import { type IsTrustedProxy, trustNoProxy } from '../../domain/trusted-proxies.ts';
import type { ApiContext, ApiDeps, Guard } from '../api-env.ts';

/** Changes when a response changes in a way that a customer's program may notice. */
export const API_VERSION = '2026-11-21';

/** Default `Retry-After` of a 503: database locks and short shortages last about as long. */
const RETRY_AFTER_SECONDS = 5;

const HEADERS = {
  'X-API-Version': API_VERSION,
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
} as const;

/** Over plain HTTP browsers ignore it, and a proxy may pass it on to where it is not true. */
const HTTPS_HEADERS = { ...HEADERS, 'Strict-Transport-Security': 'max-age=31536000' } as const;

/**
 * Gives each request its id, and reports it to log and metrics when it is answered. Routes set their own
 * Content-Security-Policy and Cache-Control.
 */
export function identity(
  deps: Pick<ApiDeps, 'clock' | 'newId' | 'log' | 'metrics' | 'publicUrl'>,
): Guard {
  const headers = Object.entries(deps.publicUrl.startsWith('https:') ? HTTPS_HEADERS : HEADERS);
  return async (context, next) => {
    const startMs = deps.clock.nowMs();
    const requestId = deps.newId('req');
    context.set('requestId', requestId);
    context.set('bodyText', '');
    context.set('caller', undefined);
    context.set('user', undefined);
    context.set('auditResource', undefined);
    context.set('errorCode', undefined);
    context.set('retryAfterSeconds', RETRY_AFTER_SECONDS);
    context.header('X-Request-Id', requestId);
    for (const [name, value] of headers) context.header(name, value);
    await next();
    report(context, deps, deps.clock.nowMs() - startMs);
  };
}

function report(
  context: ApiContext,
  { log, metrics }: Pick<ApiDeps, 'log' | 'metrics'>,
  durationMs: number,
): void {
  const { method } = context.req;
  const { status } = context.res;
  const answered = { requestId: context.get('requestId'), method, route: routeOf(context), status };
  metrics.httpRequest({ ...answered, durationMs });
  // Probes come every few seconds and would bury the rest.
  const level = answered.route.startsWith('/api') ? 'info' : 'debug';
  log[level]({ ...answered, durationMs }, 'http: answered');
}

/** The pattern that matched, such as `/api/calls/{callId}`: ids never become labels. `unmatched` where none did. */
function routeOf(context: ApiContext): string {
  return patternsOf(context).at(-1)?.path ?? 'unmatched';
}

/** Every route that matched, as `GET /api/calls/{callId}`: HEAD counts as the GET that answers it. */
export function routesOf(context: ApiContext): readonly string[] {
  return patternsOf(context).map(({ method, path }) => `${method} ${path}`);
}

function patternsOf(context: ApiContext) {
  return matchedRoutes(context)
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => ({ method, path: path.replace(/:(\w+)/g, '{$1}') }));
}

/** Comes before authentication, so that refused requests pass it too. */
export function listRequest(deps: Pick<ApiDeps, 'clock' | 'requestLog'>): Guard {
  return async (context, next) => {
    const at = deps.clock.now();
    const startMs = deps.clock.nowMs();
    await next();
    const { method } = context.req;
    const { status } = context.res;
    const route = routeOf(context);
    const isDashboard =
      route.startsWith('/dashboard') || context.get('caller')?.isDashboard === true;
    if (!isListed({ method, route, status, isDashboard })) return;
    deps.requestLog.add({
      requestId: context.get('requestId'),
      ...{ at, method, route, status },
      errorCode: context.get('errorCode') ?? null,
      durationMs: Math.round(deps.clock.nowMs() - startMs),
      ...actorOf(context),
    });
  };
}

/** Comes before authentication, so that refused attempts to sign in pass it too. */
export function audit(deps: ApiDeps): Guard {
  return async (context, next) => {
    await next();
    const entry = entryOf(context, deps);
    if (entry === undefined) return;
    try {
      await deps.auditLog.append(entry);
    } catch (error) {
      // The change is committed, so the answer stays as it is.
      const { action, id: auditId } = entry;
      const requestId = context.get('requestId');
      deps.metrics.auditFailed();
      deps.log.error({ err: error, requestId, auditId, action }, 'audit: entry not written');
    }
  };
}

function entryOf(context: ApiContext, deps: ApiDeps): AuditEntry | undefined {
  const { method, path } = context.req;
  const { status, headers } = context.res;
  const route = routeOf(context);
  const action = `${method} ${route}`;
  if (!isAudited(action, status) || headers.has('Idempotent-Replayed')) return undefined;
  const location = headers.get('Location') ?? undefined;
  return {
    id: deps.newId('aud'),
    at: deps.clock.now(),
    ...actorOf(context),
    address: clientAddress(context, deps.isTrustedProxy) ?? null,
    action,
    resource: context.get('auditResource') ?? resourceOf(route, path, location),
    status,
  };
}

/** Fields of both logs: who asked, and in which account. */
function actorOf(
  context: ApiContext,
): Pick<RequestEntry, 'actor' | 'actorId' | 'actorName' | 'accountId' | 'environment'> {
  const caller = context.get('caller');
  const user = context.get('user') ?? caller?.user;
  const apiKey = caller?.apiKey;
  const scope = {
    accountId: apiKey?.accountId ?? null,
    environment: apiKey?.environment ?? null,
  };
  if (user !== undefined)
    return { actor: 'user', actorId: user.id, actorName: user.name, ...scope };
  if (apiKey === undefined) return { actor: 'none', actorId: null, actorName: null, ...scope };
  const { id, prefix, lastFour } = apiKey;
  return { actor: 'key', actorId: id, actorName: `${prefix}…${lastFour}`, ...scope };
}

/** Source of a request: the socket's address and X-Forwarded-For. */
interface RequestSource {
  /** The socket's other end; undefined when it is already gone. */
  readonly remoteAddress: string | undefined;
  /** The header `X-Forwarded-For`, several of them joined by commas in the order of their lines. */
  readonly forwardedFor: string | undefined;
}

/**
 * Finds the address of the client behind the trusted proxies: the right-most of X-Forwarded-For that is not one of them.
 *
 * Entries left of it come from the client or from unknown proxies, and are ignored. The whole header is ignored unless
 * the socket's other end is trusted itself. Where a proxy wrote no address (`unknown`), the client counts as that proxy.
 */
export function clientAddressOf(
  { remoteAddress, forwardedFor }: RequestSource,
  isTrusted: IsTrustedProxy,
): string | undefined {
  if (remoteAddress === undefined || !isTrusted(remoteAddress)) return remoteAddress;
  const hops = (forwardedFor ?? '').split(',');
  let address = remoteAddress;
  while (isTrusted(address)) {
    const before = addressOfHop(hops.pop() ?? '');
    if (before === undefined) return address;
    address = before;
  }
  return address;
}

/** The address of a request's client; undefined when the connection is already gone. */
export function clientAddress(
  context: ApiContext,
  isTrusted: IsTrustedProxy = trustNoProxy,
): string | undefined {
  const remoteAddress = context.env.incoming?.socket.remoteAddress;
  const forwardedFor = context.req.header('x-forwarded-for');
  return clientAddressOf({ remoteAddress, forwardedFor }, isTrusted);
}

/** Some proxies write the port too, and then IPv6 in brackets. */
const HOP = /^(?:\[([^\]]+)\](?::\d{1,5})?|([^:]+)(?::\d{1,5})?|(.+))$/;

function addressOfHop(text: string): string | undefined {
  const [, bracketed, beforePort, whole] = HOP.exec(text.trim()) ?? [];
  const address = bracketed ?? beforePort ?? whole ?? '';
  return isIP(address) === 0 ? undefined : address;
}

/**
 * Names the client behind a socket address: IPv4 whole, IPv6 by its first 64 bits, because every subscriber has
 * that many addresses to choose from.
 *
 * @see RFC 6177
 */
export function clientOf(remoteAddress: string | undefined): string {
  if (remoteAddress === undefined) return 'unknown';
  const ipv4 = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(remoteAddress)?.[1];
  if (ipv4 !== undefined) return ipv4;
  const [address = ''] = remoteAddress.split('%');
  return `${firstGroups(address.toLowerCase()).slice(0, 4).join(':')}::/64`;
}

/** The groups of an IPv6 address, with the ones that `::` stands for. */
function firstGroups(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const before = head.split(':').filter(Boolean);
  const after = (tail ?? '').split(':').filter(Boolean);
  const zeros = Math.max(0, 8 - before.length - after.length);
  return [...before, ...Array<string>(zeros).fill('0'), ...after];
}

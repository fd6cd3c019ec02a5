/** Turns an application's request into what the user agent is to send. */
import { urlHost } from '../../lib/url-host.ts';
import { DigestClient } from '../digest/digest.ts';
import type { OutgoingRequest } from '../outgoing.ts';
import type { UserAgent } from '../user-agent.ts';
import type { ApplicationMessage } from './application-message.ts';
import { headerOf, partsOf } from './application-message.ts';
import type { CredentialsFor } from './credentials-for.ts';

export interface OutgoingWish {
  readonly message: ApplicationMessage;

  /** A SIP URI or `host:port`; empty for the request's own way. */
  readonly proxy: string;
  readonly userAgent: UserAgent;
  readonly credentialsFor: CredentialsFor | undefined;
}

/** The client writes `localhost` where it does not know who and where it is. */
const LOCALHOST = /(sips?:(?:[^@\s<>]*@)?)localhost(?::\d+)?(?=[;>\s]|$)/i;

/** All but the method. */
export function outgoingOptions(wish: OutgoingWish): Omit<OutgoingRequest, 'method'> {
  const { message, proxy, userAgent, credentialsFor } = wish;
  const from = headerOf(message, 'from');
  const to = headerOf(message, 'to');
  const callId = headerOf(message, 'call-id');
  const sequence = Number.parseInt(headerOf(message, 'cseq') ?? '', 10);
  const route = routeOf(message, proxy);
  return {
    ...partsOf(message),
    uri: message.uri,
    ...(from !== undefined && {
      from: withHost(from, urlHost(userAgent.ownEndpoint?.address ?? 'localhost')),
    }),
    ...(to !== undefined && { to: withHost(to, hostOf(message.uri)) }),
    ...(callId !== undefined && { callId }),
    ...(sequence > 0 && { sequence }),
    ...(route.length > 0 && { route }),
    ...(credentialsFor !== undefined && {
      digest: new DigestClient({
        credentialsFor: (realm) => credentialsFor(realm, message.uri, from),
      }),
    }),
  };
}

function withHost(address: string, host: string): string {
  return address.replace(LOCALHOST, (_, start: string) => `${start}${host}`);
}

function hostOf(uri: string): string {
  return /^[a-z]+:(?:[^@]*@)?([^;?]+)/i.exec(uri)?.[1] ?? 'localhost';
}

/** The way by the proxy, then by the Route lines that the application wrote itself. */
function routeOf(message: ApplicationMessage, proxy: string): string[] {
  const own = message.headers.filter(([name]) => name === 'route').map(([, value]) => value);
  return proxy === '' ? own : [`<${asLooseRouter(proxy)}>`, ...own];
}

function asLooseRouter(proxy: string): string {
  const uri = /^sips?:/i.test(proxy) ? proxy : `sip:${proxy}`;
  return /;lr(?:[;=]|$)/i.test(uri) ? uri : `${uri};lr`;
}

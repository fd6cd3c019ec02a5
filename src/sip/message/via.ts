/** Via header: the hop that a request came from and its response returns to; pure */
import { formatParams, type Params, parseParams, TOKEN } from './grammar.ts';
import { SipError } from './status.ts';
import { formatHostPort, HOST, portOf } from './uri.ts';

/** One Via value. @see RFC 3261 section 20.42 */
export interface Via {
  /** `2.0` in everything that can be answered. */
  readonly version: string;

  /** Upper case: UDP, TCP, TLS, or any other token. */
  readonly transport: string;

  /** The sent-by host, lower case; an IPv6 address keeps its brackets. */
  readonly host: string;
  readonly port: number | undefined;
  readonly params: Params;
}

/** Prefix of every RFC 3261 branch. RFC 3261, 8.1.1.7. */
export const BRANCH_COOKIE = 'z9hG4bK';

const VIA = new RegExp(
  '^[ \\t]*SIP[ \\t]*/[ \\t]*(\\d+\\.\\d+)[ \\t]*/[ \\t]*' +
    `([${TOKEN}]+)[ \\t]+${HOST}[ \\t]*(?::[ \\t]*(\\d+))?([\\s\\S]*)$`,
  'i',
);

/**
 * Reads one Via value.
 *
 * ```
 * SIP / 2.0 / UDP  host : port ; branch = z9hG4bK...
 * ```
 *
 * @throws {SipError} 400 when the text is none.
 * @see RFC 3261 section 20.42 and section 25.1, via-parm
 */
export function parseVia(text: string): Via {
  const [, version, transport = '', host = '', port, params = ''] = VIA.exec(text) ?? [];
  if (version === undefined) throw new SipError(400, 'Bad Via');
  return {
    version,
    transport: transport.toUpperCase(),
    host: host.toLowerCase(),
    port: portOf(port),
    params: parseParams(params),
  };
}

/** Writes the Via back. */
export function formatVia(via: Via): string {
  return `SIP/${via.version}/${via.transport} ${formatHostPort(via)}${formatParams(via.params)}`;
}

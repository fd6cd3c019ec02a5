/** Says why an address and port cannot be listened on, and what to do; pure */
import { SipError } from '../message/sip-error.ts';

/** Makes a `SipError` 503 that names the protocol, the address and the port, in the operator's words. */
export function listenError(
  protocol: 'UDP' | 'TCP',
  { address, port }: { readonly address: string; readonly port: number },
  cause: NodeJS.ErrnoException,
): SipError {
  const why = REASONS[cause.code ?? ''] ?? cause.message;
  return new SipError(503, `Cannot listen on ${protocol} "${address}:${port}": ${why}`);
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there; stop it, or set SIP_PORT',
  EADDRNOTAVAIL: 'this machine has no such address; set SIP_HOST',
  EACCES: 'this user may not open it; set SIP_PORT to 1024 or more',
};

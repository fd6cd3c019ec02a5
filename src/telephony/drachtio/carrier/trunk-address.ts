/** The addresses by which a trunk is reached, as SIP writes them; pure */
import { urlHost } from '../../../lib/url-host.ts';
import type { Trunk, TrunkProxy } from '../../trunks/trunks.ts';

/** Domain of the trunk's numbers and names. */
export function domainOf({ domain, proxy }: Trunk): string {
  return domain ?? hostOf(proxy);
}

/** Who is called: the number at the trunk's domain, or at its proxy where it has no domain of its own. */
export function targetUriOf({ domain, proxy }: Trunk, number: string): string {
  return `sip:${number}@${domain ?? hostPortOf(proxy)}`;
}

/** Request-URI of REGISTER: with the port of a proxy that has no domain, so that a registrar on the SIP server's own machine is not taken for it. */
export function registrarUriOf({ domain, proxy }: Trunk): string {
  return `sip:${domain ?? hostPortOf(proxy)}`;
}

/** The next hop of every request. */
export function proxyUriOf({ proxy }: Trunk): string {
  return `sip:${hostPortOf(proxy)}${proxy.transport === 'tcp' ? ';transport=tcp' : ''}`;
}

export function hostPortOf(proxy: TrunkProxy): string {
  return proxy.port === undefined ? hostOf(proxy) : `${hostOf(proxy)}:${proxy.port}`;
}

/** Host and port of a sip URI, without its user and parameters. */
export function hostOfUri(uri: string): string {
  return uri.replace(/^sips?:(?:[^@]*@)?/i, '').replace(/[;?].*$/, '');
}

function hostOf({ host }: TrunkProxy): string {
  return urlHost(host);
}

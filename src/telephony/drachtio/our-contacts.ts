/** The Contact that far ends are told through a drachtio-server: where they send requests of their own. */
import { isIPv4 } from 'node:net';
import type { AdvertisedAddresses } from '../our-addresses.ts';
import type { Trunk } from '../trunks.ts';
import type { SipAddress } from './srf-link.ts';

/** drachtio-server replaces the host of a Contact `user@localhost` by its own: the external one where it has one. */
const SERVERS_OWN = 'localhost';

const LOOPBACK = /^(127\.|\[::1\])/;

export interface OurContactsOptions {
  /** The server's own addresses for all far ends when not given. */
  readonly addresses?: AdvertisedAddresses | undefined;
  /** Where the server takes SIP, its external addresses among them; empty until it has said so. */
  readonly listening: () => readonly SipAddress[];
}

/** The embedded engine writes each Contact itself and ignores these. */
export class OurContacts {
  readonly #options: OurContactsOptions;

  constructor(options: OurContactsOptions) {
    this.#options = options;
  }

  /**
   * The Contact header of a call's messages.
   *
   * @param farEnd its IP address; empty where it is not known, which counts as outside.
   * @param transport of the call's SIP: `udp`, `tcp` and the like.
   * @returns no header where the server's own Contact is the right one.
   */
  headers(
    farEnd: string,
    { trunk, transport }: { readonly trunk: Trunk | undefined; readonly transport: string },
  ): Readonly<Record<string, string>> {
    const told = this.#options.addresses?.advertisedTo(farEnd, trunk);
    if (told === undefined) return {};
    return { Contact: `<sip:${this.#hostPort(told, transport)}${suffixOf(transport)}>` };
  }

  /** Host, port and transport of the Contact that a trunk registers, such as `203.0.113.10:5060;transport=tcp`. */
  async ofTrunk(trunk: Trunk): Promise<string> {
    const { addresses } = this.#options;
    const { transport } = trunk.proxy;
    const told = addresses?.advertisedTo(await addresses.proxyAddressOf(trunk), trunk);
    const hostPort = told === undefined ? SERVERS_OWN : this.#hostPort(told, transport);
    return `${hostPort}${suffixOf(transport)}`;
  }

  /** The port of the contact that faces the far end: never that of a second contact on loopback while there is another. */
  #hostPort(told: string, transport: string): string {
    const listening = this.#options.listening().filter((each) => each.transport === transport);
    const hosts = listening.map(({ hostPort }) => splitAt(hostPort));
    const facing =
      hosts.find(({ host }) => host === told) ??
      hosts.find(({ host }) => isIPv4(host) && !LOOPBACK.test(host)) ??
      hosts.find(({ host }) => isIPv4(host));
    return facing === undefined ? told : `${told}:${facing.port}`;
  }
}

function splitAt(hostPort: string): { readonly host: string; readonly port: string } {
  const colon = hostPort.lastIndexOf(':');
  return { host: hostPort.slice(0, colon), port: hostPort.slice(colon + 1) };
}

function suffixOf(transport: string): string {
  return transport === 'udp' ? '' : `;transport=${transport}`;
}

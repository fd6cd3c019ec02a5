/** The Contact that far ends are told through a drachtio-server: where they send requests of their own. */
import type { AdvertisedAddresses } from '../../trunks/our-addresses.ts';
import type { Trunk } from '../../trunks/trunks.ts';
import type { SipAddress } from './srf-link.ts';

/** drachtio-server replaces the host of a Contact `user@localhost` by its own: the external one where it has one. */
const SERVERS_OWN = 'localhost';

const LOOPBACK = /^(127\.|\[::1\])/;

export interface OurContactsOptions {
  /** The server's own Contact for all far ends when not given. */
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
   * The Contact header of a call's messages. In a request of ours, drachtio-server keeps it where the address is one that
   * it listens on or its external one, and writes that otherwise.
   *
   * @param farEnd its IP address; empty where it is not known, which counts as outside.
   * @param transport of the call's SIP: `udp`, `tcp` and the like.
   * @returns no header where the server's own Contact is the right one.
   */
  headers(
    farEnd: string,
    { trunk, transport }: { readonly trunk: Trunk | undefined; readonly transport: string },
  ): Readonly<Record<string, string>> {
    const hostPort = this.#hostPort(farEnd, trunk, transport);
    return hostPort === undefined ? {} : { Contact: `<sip:${hostPort}${suffixOf(transport)}>` };
  }

  /** Host, port and transport of the Contact that a trunk registers, such as `203.0.113.10:5060;transport=tcp`. */
  async ofTrunk(trunk: Trunk): Promise<string> {
    const { transport } = trunk.proxy;
    const farEnd = (await this.#options.addresses?.proxyAddressOf(trunk)) ?? '';
    return `${this.#hostPort(farEnd, trunk, transport) ?? SERVERS_OWN}${suffixOf(transport)}`;
  }

  /** Undefined for the server's own. */
  #hostPort(farEnd: string, trunk: Trunk | undefined, transport: string): string | undefined {
    const { addresses, listening } = this.#options;
    const places = listening().filter((each) => each.transport === transport);
    const local = facing(places.filter(({ isExternal }) => !isExternal));
    const told = addresses?.advertisedTo(farEnd, trunk);
    if (told !== undefined) {
      const port = (places.find(({ hostPort }) => hostOf(hostPort) === told) ?? local)?.hostPort;
      return port === undefined ? told : `${told}:${port.slice(port.lastIndexOf(':') + 1)}`;
    }
    // Its own Contact has the external address, which is for far ends outside alone.
    const isTurnedOut = places.some(({ isExternal }) => isExternal);
    const isInside = addresses?.isOutside(farEnd) === false;
    return isTurnedOut && isInside ? local?.hostPort : undefined;
  }
}

/** The one that faces the far ends: never a second contact on loopback while there is another. */
function facing(places: readonly SipAddress[]): SipAddress | undefined {
  return places.find(({ hostPort }) => !LOOPBACK.test(hostPort)) ?? places[0];
}

function hostOf(hostPort: string): string {
  return hostPort.slice(0, hostPort.lastIndexOf(':'));
}

function suffixOf(transport: string): string {
  return transport === 'udp' ? '' : `;transport=${transport}`;
}

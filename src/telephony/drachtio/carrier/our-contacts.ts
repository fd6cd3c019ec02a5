/** Contact headers sent through a drachtio-server: the address for the far end's own requests. */
import type { AdvertisedAddresses } from '../../trunks/our-addresses.ts';
import type { Trunk } from '../../trunks/trunks.ts';
import type { SipAddress } from './srf-link.ts';

/** drachtio-server replaces the host of a Contact `user@localhost` by its own, external if configured. */
const SERVERS_OWN = 'localhost';

const LOOPBACK = /^(127\.|\[::1\])/;

interface OurContactsOptions {
  /** Default: the server's own Contact for all far ends. */
  readonly addresses?: AdvertisedAddresses | undefined;
  /** Addresses of the server, external ones included; empty until it has reported them. */
  readonly listening: () => readonly SipAddress[];
}

/** The embedded engine writes each Contact itself and ignores these. */
export class OurContacts {
  readonly #options: OurContactsOptions;

  constructor(options: OurContactsOptions) {
    this.#options = options;
  }

  /**
   * Contact header of a call. In our requests drachtio-server keeps an address that it listens on or its external
   * one, and replaces any other.
   *
   * @param farEnd its IP address; an empty one counts as outside.
   * @param transport of the call's SIP: `udp`, `tcp` and the like.
   * @returns no header if the server's own Contact is right.
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
    // The server's own Contact has the external address, which is wrong for far ends inside.
    const isTurnedOut = places.some(({ isExternal }) => isExternal);
    const isInside = addresses?.isOutside(farEnd) === false;
    return isTurnedOut && isInside ? local?.hostPort : undefined;
  }
}

/** The address for far ends: loopback only without another. */
function facing(places: readonly SipAddress[]): SipAddress | undefined {
  return places.find(({ hostPort }) => !LOOPBACK.test(hostPort)) ?? places[0];
}

function hostOf(hostPort: string): string {
  return hostPort.slice(0, hostPort.lastIndexOf(':'));
}

function suffixOf(transport: string): string {
  return transport === 'udp' ? '' : `;transport=${transport}`;
}

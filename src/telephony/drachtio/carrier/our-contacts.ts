/** SIP addresses of a drachtio-server, and the Contact headers sent through it: where far ends send their own requests. */
import type { AdvertisedAddresses } from '../../trunks/our-addresses.ts';
import type { Trunk } from '../../trunks/trunks.ts';

/** drachtio-server replaces the host of a Contact `user@localhost` by its own, external if configured. */
const SERVERS_OWN = 'localhost';

const LOOPBACK = /^(127\.|\[::1\])/;

/** One SIP address of the server, `udp/192.0.2.1:5060` in drachtio's notation. */
interface SipAddress {
  readonly transport: string;
  readonly hostPort: string;
  /** External address, which the server does not listen on. */
  readonly isExternal: boolean;
}

interface OurContactsOptions {
  /** Default: the server's own Contact for all far ends. */
  readonly addresses?: AdvertisedAddresses | undefined;
}

/** The embedded engine writes each Contact itself and ignores these. */
export class OurContacts {
  readonly #options: OurContactsOptions;
  #listening: readonly SipAddress[] = [];

  constructor(options: OurContactsOptions) {
    this.#options = options;
  }

  /** Addresses of the server, external ones included; empty before it has reported them. */
  get listening(): readonly SipAddress[] {
    return this.#listening;
  }

  /** @param hostPorts addresses that the server reports at each connect: the fields of drachtio-srf's `connect` event. */
  serverListens(hostPorts: readonly unknown[]): void {
    this.#listening = addressesOf(hostPorts);
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
    const { addresses } = this.#options;
    const places = this.#listening.filter((each) => each.transport === transport);
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

/** The `connect` event has lists such as `udp/127.0.0.1:5060,tcp/127.0.0.1:5060`, and a version among them. */
function addressesOf(hostPorts: readonly unknown[]): readonly SipAddress[] {
  const [, , local] = hostPorts;
  const isExternal = (text: string) => typeof local === 'string' && !local.includes(text);
  const texts = hostPorts.flatMap((value) => (typeof value === 'string' ? value.split(',') : []));
  const found = texts.flatMap((text) => {
    const [, transport, hostPort] = /^(udp|tcp|tls|ws|wss)\/(.+)$/.exec(text.trim()) ?? [];
    return transport && hostPort ? [{ transport, hostPort, isExternal: isExternal(text) }] : [];
  });
  const distinct = found.filter(
    (address, at) =>
      found.findIndex(
        ({ transport, hostPort }) =>
          transport === address.transport && hostPort === address.hostPort,
      ) === at,
  );
  // drachtio-server lists TCP first; carriers use UDP unless their trunk says otherwise.
  const rank = ({ transport }: SipAddress) => (transport === 'udp' ? 0 : 1);
  return distinct.sort((one, other) => rank(one) - rank(other));
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

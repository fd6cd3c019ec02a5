/** What the main thread and the thread of browser calls say to each other; types only; pure */

/** How a thread is set up when it starts. */
export interface RelaySettings {
  /** From where UDP ports for browsers are taken. */
  readonly ports: { readonly first: number; readonly last: number };
}

/** An IPv4 address and a UDP port. */
export interface UdpPlace {
  readonly address: string;
  readonly port: number;
}

export type ToRelay =
  | {
      readonly kind: 'open';
      readonly call: number;
      /** The browser's, with nothing in it that is not spoken here. */
      readonly offer: string;
      readonly telephoneEventPayloadType: number | undefined;
      /** The port of the media engine that takes this call's RTP. */
      readonly line: UdpPlace;
      /** IPv4 addresses by which browsers may come, best first; loopback alone opens no port to others. */
      readonly addresses: readonly string[];
    }
  | { readonly kind: 'close'; readonly call: number };

export type FromRelay =
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'opened';
      readonly call: number;
      readonly answer: string;
      /** Where the media engine finds the relay. */
      readonly relay: UdpPlace;
    }
  /** The answer to `open`, in place of `opened`. */
  | { readonly kind: 'refused'; readonly call: number; readonly reason: string }
  /** The way to the browser is found and its keys are agreed: sound flows. */
  | { readonly kind: 'connected'; readonly call: number }
  /** The connection is over, or will never be. */
  | { readonly kind: 'lost'; readonly call: number; readonly reason: string }
  /** The answer to `close`: its ports are free. */
  | { readonly kind: 'closed'; readonly call: number };

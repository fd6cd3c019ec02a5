/** The operator's SIP trunks as they stand at this moment, for whoever runs the server. */

/** Whether calls can go through a trunk, and how that came to be. */
export interface TrunkStatus {
  /**
   * `ready`: registered, or in need of no registration while the proxy answers OPTIONS. `registering`: asked, not yet
   * answered. `failed`: refused, or no answer; it is tried again. `unregistered`: nothing is tried, because the SIP server is away or the server stops.
   */
  readonly state: 'ready' | 'registering' | 'failed' | 'unregistered';
  /** In plain English, such as `registered with sip.example.com`. */
  readonly detail: string;
  /** When the carrier forgets us unless asked again; null where there is no registration. */
  readonly expiresAt: Date | null;
}

export interface TrunkState extends TrunkStatus {
  readonly name: string;
  /** Account id that its numbers belong to; null: the first account. */
  readonly account: string | null;
  /** Where the carrier takes our calls: host, and port where the operator said one. */
  readonly proxy: string;
  readonly transport: 'udp' | 'tcp';
  /** E.164, or the beginning of numbers and a star. */
  readonly numbers: readonly string[];
  /** In the order of preference. */
  readonly codecs: readonly string[];
  readonly callsInProgress: number;
  /** Null where the operator set no limit. */
  readonly callsMax: number | null;
}

/** The trunks of the installation. */
export interface Trunks {
  /** In the order of the operator's file. Never a password, nor a user name. */
  list(): readonly TrunkState[];

  /** Every number, or beginning and star, that some trunk has; each once, sorted. */
  readonly numbers: readonly string[];

  /** Names of the trunks that have the number, in the order of the operator's file. */
  trunksOf(number: string): readonly string[];

  /** Account id that the first trunk with the number names, null where it names none; undefined where no trunk has it. */
  accountOf(number: string): string | null | undefined;
}

/** Port of the trunk doctor to SIP: what it asks, and what a carrier answers. */

/** What a carrier answered. */
export interface DoctorReply {
  readonly status: number;
  /** Realm of its challenge. */
  readonly realm: string | undefined;
  /** Our address in the Via that we sent. */
  readonly advertised: string;
  /** The address that it saw, from `received` and `rport`; undefined where it does not say. RFC 3581. */
  readonly seen: string | undefined;
  /** Its clock, from Date. */
  readonly date: Date | undefined;
  /** Body, where that is a session description. */
  readonly sdp: string | undefined;
  /** Addresses that are registered, in an answer to REGISTER. */
  readonly bindings: number;
}

/** Where a proxy is found. */
export interface ProxyPlace {
  readonly address: string;
  readonly port: number;
}

/** The certificate of a proxy, as TLS finds it. */
export interface ProxyCertificate {
  /** Why TLS is impossible; undefined where it is not. */
  readonly problem: string | undefined;
  readonly expiresAt: Date | undefined;
}

/** SIP client of one check; every wait of it has a limit. */
export interface DoctorClient {
  /** Places of the trunk's proxy by RFC 3263, the first choice first; empty where its name does not resolve. */
  locate(): Promise<readonly ProxyPlace[]>;

  /** Connects by the trunk's transport. @returns why that is impossible; undefined where it is not. */
  connectProblem(place: ProxyPlace): Promise<string | undefined>;

  /** Looks at the proxy's certificate, which has to have the proxy's name. Undefined where the trunk has no TLS. */
  certificate(place: ProxyPlace): Promise<ProxyCertificate | undefined>;

  /** Sends OPTIONS. @returns undefined where nothing comes back. */
  options(): Promise<DoctorReply | undefined>;

  /** Asks by REGISTER, with the trunk's password, what is registered; changes nothing. RFC 3261, 10.2.3. */
  bindings(): Promise<DoctorReply | undefined>;

  /** Safe to call twice. */
  stop(): Promise<void>;
}

/** What the server says of one call's sound and signalling, and of its lines; pure */

/** Values from 0 to 1, of equally long pieces of the recording. */
export interface RecordingPeaks {
  readonly durationMs: number;
  readonly peaks: { readonly caller: readonly number[]; readonly agent: readonly number[] };
}

export interface SipMessage {
  readonly at: string;
  /** As seen from the server. */
  readonly direction: 'in' | 'out';
  readonly transport: string;
  readonly from: string;
  readonly to: string;
  readonly startLine: string;
  readonly cseq: string;
  readonly body: string | null;
  readonly text: string;
}

export interface SipLog {
  readonly messages: readonly SipMessage[];
  readonly truncated: boolean;
  readonly source: string;
  /** Why there is nothing, and where to look. */
  readonly note: string | null;
}

export interface Trunk {
  readonly name: string;
  readonly proxy: string;
  readonly transport: string;
  readonly state: string;
  readonly detail: string;
  readonly expiresAt: string | null;
  readonly numbers: readonly string[];
  readonly codecs: readonly string[];
  readonly callsInProgress: number;
  /** Null where there is no limit. */
  readonly callsMax: number | null;
}

export interface PhoneNumber {
  /** E.164, or the beginning of numbers and a star. */
  readonly number: string;
  readonly trunks: readonly string[];
  /** The only account that may use it; null: any. */
  readonly accountId: string | null;
  readonly agentId: string | null;
  readonly agentName: string | null;
  /** By an agent of this account, who is named, or of another, who is not. */
  readonly isTaken: boolean;
}

/** Figures that nobody has measured are null. */
export interface CallQuality {
  readonly codec: string | null;
  readonly local: {
    readonly packetsSent: number;
    readonly packetsUnsent: number;
    readonly packetsReceived: number;
    readonly packetsLost: number;
    readonly packetsLate: number;
    readonly lossPercent: number;
    readonly jitterMs: number;
  } | null;
  /** What the far end reported of our sound. */
  readonly remote: {
    readonly lossPercent: number;
    readonly jitterMs: number;
    readonly roundTripMs: number | null;
  } | null;
  /** From 1 (bad) to 4.5 (as good as a telephone gets). */
  readonly mos: number | null;
}

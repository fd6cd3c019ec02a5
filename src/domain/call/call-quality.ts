/** How well a call's packets travelled, and the contract of the store that keeps it. */

/** What came to us. Counts are of the whole call. */
export interface LocalQuality {
  readonly packetsSent: number;
  /** Were due, and our own system did not take them. */
  readonly packetsUnsent: number;
  readonly packetsReceived: number;
  readonly packetsLost: number;
  /** Came when their place was filled with silence already, or twice. */
  readonly packetsLate: number;
  /** Came from somebody else, or made no sense. */
  readonly packetsRejected: number;
  /** Of the packets that should have come: those that could not be heard, lost and late ones. */
  readonly lossPercent: number;
  /** RFC 3550's running estimate, at the end. */
  readonly jitterMs: number;
}

/** What came to the far end, by its own reports. */
export interface RemoteQuality {
  /** By us, as far as the newest report knew. */
  readonly packetsSent: number;
  readonly packetsLost: number;
  readonly lossPercent: number;
  readonly jitterMs: number;
  /** The mean, and the longest; null where no report answered one of ours. */
  readonly roundTripMs: number | null;
  readonly roundTripMsMax: number | null;
}

export interface CallQuality {
  /** `PCMU` or `PCMA`. */
  readonly codec: string;
  readonly local: LocalQuality;
  /** Null where the far end sent no reports. */
  readonly remote: RemoteQuality | null;
  /** Of the worse direction, from 1 to 4.4; null where nothing came either way. */
  readonly mos: number | null;
}

/** Keeps the quality of calls that are over, for as long as the calls themselves. */
export interface CallQualityStore {
  /** Of a call that is kept; a second time replaces the first. */
  save(callId: string, quality: CallQuality): void;

  find(callId: string): CallQuality | undefined;
}

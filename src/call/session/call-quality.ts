/** Call quality (jitter, loss, MOS) from the RTP figures of its session; pure */

import { meanOpinionScore } from '../../domain/agent/voice-catalogue.ts';
import type { CallQuality, LocalQuality, RemoteQuality } from '../../domain/call/call-life.ts';
import type { Logger } from '../../lib/logger.ts';
import type { AudioStats, AudioStream, StreamDetails } from '../../media/audio-stream.ts';

/** @returns undefined where no packets flow, as on a simulated call. */
export function qualityOf(stats: AudioStats): CallQuality | undefined {
  const { details } = stats;
  if (details === undefined) return undefined;
  const local = localQuality(stats, details);
  const remote = details.remote === undefined ? null : remoteQuality(details.remote);
  return { codec: details.codec, local, remote, mos: opinionOf(local, remote) };
}

function localQuality(
  stats: AudioStats,
  { packetsLate, packetsUnsent }: StreamDetails,
): LocalQuality {
  const { packetsSent, packetsReceived, packetsLost, packetsRejected, jitterMs } = stats;
  return {
    ...{ packetsSent, packetsUnsent, packetsReceived, packetsLost, packetsLate, packetsRejected },
    // Late packets were counted as received, but were not played.
    lossPercent: percentOf(packetsLost + packetsLate, packetsLost + packetsReceived),
    jitterMs: tenths(jitterMs),
  };
}

function remoteQuality(figures: NonNullable<StreamDetails['remote']>): RemoteQuality {
  const { packetsSent, packetsLost, jitterMs, roundTripMs, roundTripMsMax } = figures;
  return {
    ...{ packetsSent, packetsLost },
    lossPercent: percentOf(packetsLost, packetsSent),
    jitterMs: tenths(jitterMs),
    roundTripMs: roundTripMs === undefined ? null : tenths(roundTripMs),
    roundTripMsMax: roundTripMsMax === undefined ? null : tenths(roundTripMsMax),
  };
}

/** MOS of the worse direction. */
function opinionOf(local: LocalQuality, remote: RemoteQuality | null): number | null {
  const roundTripMs = remote?.roundTripMs ?? undefined;
  const directions = [
    ...(local.packetsReceived > 0 ? [{ ...local, isConcealed: true }] : []),
    ...(remote !== null && remote.packetsSent > 0 ? [remote] : []),
    ...(local.packetsUnsent > 0 ? [unsentLoss(local)] : []),
  ];
  if (directions.length === 0) return null;
  const scores = directions.map((direction) => meanOpinionScore({ ...direction, roundTripMs }));
  return Math.round(Math.min(...scores) * 100) / 100;
}

/** Loss by packets that were not sent, known even where the far end reports nothing. */
function unsentLoss({ packetsSent, packetsUnsent }: LocalQuality) {
  return { lossPercent: percentOf(packetsUnsent, packetsSent + packetsUnsent), jitterMs: 0 };
}

function percentOf(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round(Math.min(1, part / whole) * 10_000) / 100;
}

/** Rounds to one decimal: clocks tell nanoseconds, and readers do not need them. */
export function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Reads the packet counters; call it while the line is open. Not awaited. @param options.onStats takes the last figures. */
export function countPackets(
  audio: Pick<AudioStream, 'stats'>,
  { onStats, log }: { readonly onStats: (stats: AudioStats) => void; readonly log: Logger },
): void {
  audio
    .stats()
    .then(onStats, (error: unknown) => {
      log.debug({ err: error }, 'packets of the call were not counted');
    })
    .catch((error: unknown) => {
      log.error({ err: error }, 'packets of the call were not kept');
    });
}

/** How loud a caller usually speaks, and how a voice compares with that; pure */

/** What is known of somebody's loudness. */
export interface SpokenLevel {
  /** Mean over `voicedMs`, in dB below full scale. */
  readonly levelDbfs: number;
  /** How much voice that was learnt from; 0 when nothing is known. */
  readonly voicedMs: number;
}

export const LEVEL_UNKNOWN: SpokenLevel = { levelDbfs: 0, voicedMs: 0 };

/** A sentence or two: before that, "usual" would be one word's accent. */
const KNOWN_MS = 1500;

/** What was said longer ago counts less: callers move, and change hands. */
const MEMORY_MS = 20_000;

/** Takes one more stretch of voice into account. */
export function learnLevel(known: SpokenLevel, heard: SpokenLevel): SpokenLevel {
  if (heard.voicedMs <= 0) return known;
  const before = Math.min(known.voicedMs, MEMORY_MS);
  const voicedMs = before + heard.voicedMs;
  const sum = known.levelDbfs * before + heard.levelDbfs * heard.voicedMs;
  return { levelDbfs: sum / voicedMs, voicedMs };
}

/** How far a voice is above what is usual, in dB; 0 as long as either is unknown. */
export function overUsualDb(usual: SpokenLevel, heard: SpokenLevel): number {
  if (usual.voicedMs < KNOWN_MS || heard.voicedMs <= 0) return 0;
  return heard.levelDbfs - usual.levelDbfs;
}

/** Voices of agents: the catalogue with previews, and MOS from packet loss, jitter and delay. */

/** How agents name voices: `<locale>-<Name>Neural`, or as a speech server names its own. */
export const VOICE_ID = /^[A-Za-z0-9][\w.:+-]{0,99}$/;

/** Locale and language of a voice whose speech server does not tell them. @see RFC 5646, 4.1 */
export const UNDETERMINED = 'und';

/** A voice that agents can be given. */
export interface Voice {
  /** Name by which agents choose it, such as `en-US-JennyNeural`. */
  readonly id: string;
  /** BCP 47, such as `en-US`; `und` where a speech server does not tell. */
  readonly locale: string;
  /** ISO 639, such as `en`; `und` where a speech server does not tell. */
  readonly language: string;
  /** The speaker's own name, such as `Jenny`. */
  readonly name: string;
  /** Unknown where a speech server does not tell. */
  readonly gender: 'female' | 'male' | 'unknown';
  /** Engine that speaks it on this server now. */
  readonly engine: string;
  /** True when that stands in for a better one. */
  readonly isFallback: boolean;
}

/** Filters of the list of voices; fields left out match every voice. */
export interface VoiceFilter {
  readonly locale?: string;
  readonly language?: string;
}

/** Longest text of a preview. */
export const PREVIEW_CHARACTERS_MAX = 300;

/** Lists voices and renders previews of them. */
export interface VoiceCatalogue {
  /** In the order of their ids. */
  list(filter: VoiceFilter): readonly Voice[];

  find(voiceId: string): Voice | undefined;

  /** ISO 639 codes of the spoken languages, including languages without a listed voice. */
  languages(): readonly string[];

  /**
   * Speaks a sentence as callers would hear it.
   *
   * @param text a sentence in the voice's language stands in where it is undefined.
   * @returns a WAV file: 8 kHz, mono, 16-bit; null while too many previews are being made.
   * @throws {ServiceError} VOICE_NOT_FOUND, or SERVICE_UNAVAILABLE when the voice did not speak.
   */
  preview(voiceId: string, text: string | undefined): Promise<Uint8Array | null>;
}

/** Picks the voices that the filter asks for; case does not matter. */
export function matchingVoices(
  voices: readonly Voice[],
  { locale, language }: VoiceFilter,
): readonly Voice[] {
  return voices.filter(
    (voice) =>
      (locale === undefined || voice.locale.toLowerCase() === locale.toLowerCase()) &&
      (language === undefined || voice.language === language.toLowerCase()),
  );
}

/** Network impairment of one direction of a call. */
export interface Impairment {
  /** Percentage of packets lost, or too late to be heard. */
  readonly lossPercent: number;
  readonly jitterMs: number;
  /** Whether the hearing side conceals lost packets; unknown of a far end, and false unless given. */
  readonly isConcealed?: boolean;
  /** Undefined where it was not measured. */
  readonly roundTripMs: number | undefined;
}

/** The rating of a call without any impairment: G.107, with all of its defaults. */
const R_BEST = 93.2;

/** How much loss G.711 bears where silence is put in its place, and where it is concealed. @see ITU-T G.113, appendix I: Bpl */
const LOSS_ROBUSTNESS = 4.3;
const LOSS_ROBUSTNESS_CONCEALED = 25.1;

/** A packet is this long, and is sent when it is full. */
const PACKET_MS = 20;

/** Beyond this a conversation begins to suffer from the delay itself. */
const DELAY_KNEE_MS = 177.3;

/**
 * The mean opinion score that people would give: from 1 to about 4.4, the best that narrow-band sound can be.
 *
 *     R      = 93.2 - Id - Ie,eff
 *     Id     = 0.024 d + 0.11 (d - 177.3) where d is over 177.3    d = half the round trip + 20 ms + 2 x jitter
 *     Ie,eff = 95 loss / (loss + 4.3)                              G.711, losses at random; 25.1 where they are concealed
 *     MOS    = 1 + 0.035 R + R (R - 60) (100 - R) 7e-6
 *
 * @see ITU-T G.107, clauses 7.1, 7.5 and annex B; for Id, Cole and Rosenbluth, "Voice over IP performance monitoring" (2001)
 */
export function meanOpinionScore(impairment: Impairment): number {
  const rating = R_BEST - delayImpairment(impairment) - lossImpairment(impairment);
  // Under a rating of 6.5 the polynomial falls below its own scale.
  if (rating <= 6.5) return 1;
  return Math.max(1, 1 + 0.035 * rating + rating * (rating - 60) * (100 - rating) * 7e-6);
}

function delayImpairment({ jitterMs, roundTripMs = 0 }: Impairment): number {
  const delayMs = roundTripMs / 2 + PACKET_MS + 2 * jitterMs;
  return 0.024 * delayMs + 0.11 * Math.max(0, delayMs - DELAY_KNEE_MS);
}

function lossImpairment({ lossPercent, isConcealed = false }: Impairment): number {
  const robustness = isConcealed ? LOSS_ROBUSTNESS_CONCEALED : LOSS_ROBUSTNESS;
  return (95 * lossPercent) / (lossPercent + robustness);
}

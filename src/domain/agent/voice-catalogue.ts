/** The voices that agents can be given, and the contract of what lists them and lets them be heard. */

export interface Voice {
  /** As agents name it, `<locale>-<Name>Neural`, such as `en-US-JennyNeural`. */
  readonly id: string;
  /** BCP 47 with a region, such as `en-US`. */
  readonly locale: string;
  /** ISO 639, such as `en`. */
  readonly language: string;
  /** The speaker's own name, such as `Jenny`. */
  readonly name: string;
  readonly gender: 'female' | 'male';
  /** What speaks it on this server now. */
  readonly engine: string;
  /** True when that stands in for a better one. */
  readonly isFallback: boolean;
}

/** Which voices a list is to have; what is not given is not looked at. */
export interface VoiceFilter {
  readonly locale?: string;
  readonly language?: string;
}

/** Longest text of a preview. */
export const PREVIEW_CHARACTERS_MAX = 300;

export interface VoiceCatalogue {
  /** In the order of their ids. */
  list(filter: VoiceFilter): readonly Voice[];

  find(voiceId: string): Voice | undefined;

  /** ISO 639 codes of the languages that are spoken, those without a listed voice included. */
  languages(): readonly string[];

  /**
   * Speaks a sentence as callers would hear it.
   *
   * @param text a sentence in the voice's language stands in where it is undefined.
   * @returns a WAV file: 8 kHz, mono, 16-bit; null while as many previews as may be are being made.
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

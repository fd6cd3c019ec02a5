/** Reads the names that agents give their voices; pure */

/** A voice name taken apart. */
export interface VoiceName {
  /** BCP 47 with language and region, such as `en-US`. */
  readonly locale: string;
  /** ISO 639, such as `en`. */
  readonly language: string;
  /** The speaker's own name, such as `Jenny`. */
  readonly speaker: string;
}

const VOICE_NAME =
  /^([A-Za-z]{2,3})-(?:[A-Za-z]{4}-)?([A-Za-z]{2}|\d{3})-([A-Za-z]+?)(?:Multilingual)?Neural$/;

/** Takes `<locale>-<Name>Neural` apart; null when the text has another form. */
export function parseVoiceName(voice: string): VoiceName | null {
  const [, language, region, speaker] = VOICE_NAME.exec(voice) ?? [];
  if (language === undefined || region === undefined || speaker === undefined) {
    return null;
  }
  const lower = language.toLowerCase();
  return { locale: `${lower}-${region.toUpperCase()}`, language: lower, speaker };
}

/** The language of a BCP 47 tag, in lower case: `es` of `es-MX`. */
export function languageOf(tag: string): string {
  return (tag.split(/[-_]/)[0] ?? '').toLowerCase();
}

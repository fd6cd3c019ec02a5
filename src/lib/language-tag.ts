/** Language tags of BCP 47; pure */

/** The language of a tag, in lower case: `es` of `es-MX`. */
export function languageOf(tag: string): string {
  return (tag.split(/[-_]/)[0] ?? '').toLowerCase();
}

/** A language, perhaps with a region. It is always well-formed; a check by `Intl` takes longer than all other checks. */
const PLAIN_TAG = /^[a-z]{2,3}(?:-[A-Z]{2})?$/;

/** Whether the text is a well-formed BCP 47 language tag, such as `pt-BR`. */
export function isLanguageTag(text: string): boolean {
  if (PLAIN_TAG.test(text)) return true;
  try {
    return Intl.getCanonicalLocales(text).length === 1;
  } catch {
    // A malformed tag is a RangeError, and that is the answer.
    return false;
  }
}

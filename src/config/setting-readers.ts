/** Readers of settings, those of speech servers included: from text to value, with an error message for a wrong one; pure */

/** Reads the text of one setting. @throws {Expected} with what is allowed. */
export type Reader<Value> = (text: string) => Value;

/** Error with the allowed values of a setting, such as "a whole number from 1 to 64". */
export class Expected extends Error {}

/** How a setting is read, and its value when it is not given. */
export interface Setting<Value> {
  readonly read: Reader<Value>;
  readonly otherwise: Value;
}

/** A setting with a default. */
export function setting<Value>(read: Reader<Value>, otherwise: Value): Setting<Value> {
  return { read, otherwise };
}

/** A setting that may be missing. */
export function optional<Value>(read: Reader<Value>): Setting<Value | undefined> {
  return { read, otherwise: undefined };
}

/** Any text. */
export const text: Reader<string> = (given) => given;

/** Text that passes the check. */
export function textWhere(isAllowed: (given: string) => boolean, expected: string): Reader<string> {
  return (given) => {
    if (!isAllowed(given)) throw new Expected(expected);
    return given;
  };
}

/** Text of that form. */
export function matching(pattern: RegExp, expected: string): Reader<string> {
  return textWhere((given) => pattern.test(given), expected);
}

/** One of these words. */
export function oneOf<const Name extends string>(...names: readonly Name[]): Reader<Name> {
  return (given) => {
    const name = names.find((each) => each === given);
    if (name === undefined) throw new Expected(`one of ${names.join(', ')}`);
    return name;
  };
}

/** Digits alone, both bounds included: `Number` takes `0x10`, `1e3` and a space as well. */
export function wholeNumber(min: number, max: number): Reader<number> {
  return (given) => {
    const value = Number(given);
    if (!/^\d{1,9}$/.test(given) || value < min || value > max) {
      throw new Expected(`a whole number from ${min} to ${max}`);
    }
    return value;
  };
}

/** A port, or 0 for a free one. */
export const port = wholeNumber(0, 65_535);

/** A number, fractions too. */
export const numberAboveZero: Reader<number> = (given) => {
  const value = Number(given);
  if (!(value > 0 && Number.isFinite(value))) throw new Expected('a number above 0');
  return value;
};

/** `true` or `false`. */
export const flag: Reader<boolean> = (given) => oneOf('true', 'false')(given) === 'true';

/** Protocols of speech servers: values of `STT` and `TTS`. */
export const SPEECH_PROTOCOLS = ['openai', 'wyoming'] as const;

type SpeechProtocol = (typeof SPEECH_PROTOCOLS)[number];

/** Example and pattern of each protocol's addresses. */
const ADDRESSES: Readonly<
  Record<SpeechProtocol, { readonly example: string; readonly form: RegExp }>
> = {
  openai: { example: 'http://10.0.0.5:8000', form: /^https?:\/\/[^/?#@]+(\/[^?#@]*)?$/ },
  wyoming: { example: 'tcp://10.0.0.5:10300', form: /^tcp:\/\/[^/?#@]+:\d+$/ },
};

/** Form of a list of speech servers, for error messages. */
export const SPEECH_SERVERS_EXPECTED = `addresses separated by commas, such as ${Object.values(
  ADDRESSES,
)
  .map(({ example }) => example)
  .join(' or ')}, without ?, # and password`;

/** Whether the setting names a protocol of speech servers. */
export function isSpeechProtocol(engine: string): engine is SpeechProtocol {
  return SPEECH_PROTOCOLS.some((protocol) => protocol === engine);
}

/** Whether the text is the address of a speech server; log, metrics and `/readyz` show it. */
export function isSpeechServer(text: string): boolean {
  return URL.canParse(text) && Object.values(ADDRESSES).some(({ form }) => form.test(text));
}

/** Says where a protocol has no servers, servers have no protocol, or have addresses of another. */
export function serverContradictions(
  job: 'STT' | 'TTS',
  engine: string,
  urls: readonly string[],
): readonly string[] {
  const name = `${job}_URL`;
  if (isSpeechProtocol(engine)) {
    if (urls.length === 0) return [`${job}: ${engine} needs ${name} as well`];
    const { example, form } = ADDRESSES[engine];
    const wrong = urls.find((url) => !form.test(url));
    if (wrong === undefined) return [];
    return [`${name}: ${engine} needs addresses such as ${example}, got "${wrong}"`];
  }
  const names = SPEECH_PROTOCOLS.join(', ');
  return urls.length === 0 ? [] : [`${name}: needs ${job} to be one of ${names}, got "${engine}"`];
}

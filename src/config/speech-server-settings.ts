/** Settings of speech servers: `STT`, `STT_URL`, `TTS`, `TTS_URL`; pure */

/** Protocols of speech servers: values of `STT` and `TTS`. */
export const SPEECH_PROTOCOLS = ['openai', 'wyoming'] as const;

type SpeechProtocol = (typeof SPEECH_PROTOCOLS)[number];

/** How an address of a protocol looks, and the beginning by which it is told. */
const ADDRESSES: Readonly<
  Record<SpeechProtocol, { readonly example: string; readonly form: RegExp }>
> = {
  openai: { example: 'http://10.0.0.5:8000', form: /^https?:\/\/[^/?#@]+(\/[^?#@]*)?$/ },
  wyoming: { example: 'tcp://10.0.0.5:10300', form: /^tcp:\/\/[^/?#@]+:\d+$/ },
};

/** What a list of speech servers looks like, for error messages. */
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

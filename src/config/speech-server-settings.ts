/** Settings of speech servers: `STT`, `STT_URL`, `TTS`, `TTS_URL`; pure */

/** Protocols of speech servers: values of `STT` and `TTS`. */
export const SPEECH_PROTOCOLS = ['openai'] as const;

type SpeechProtocol = (typeof SPEECH_PROTOCOLS)[number];

export const SPEECH_SERVERS_EXPECTED =
  'addresses separated by commas, such as http://10.0.0.5:8000,http://10.0.0.6:8000, without ?, # and password';

/** Whether the setting names a protocol of speech servers. */
export function isSpeechProtocol(engine: string): engine is SpeechProtocol {
  return SPEECH_PROTOCOLS.some((protocol) => protocol === engine);
}

/** Whether the text is the address of a speech server; log, metrics and `/readyz` show it. */
export function isSpeechServer(text: string): boolean {
  return URL.canParse(text) && /^https?:\/\/[^/?#@]+(\/[^?#@]*)?$/.test(text);
}

/** Says where a protocol has no servers, or servers have no protocol. */
export function serverContradictions(
  job: 'STT' | 'TTS',
  engine: string,
  urls: readonly string[],
): readonly string[] {
  const name = `${job}_URL`;
  if (isSpeechProtocol(engine)) {
    return urls.length === 0 ? [`${job}: ${engine} needs ${name} as well`] : [];
  }
  const names = SPEECH_PROTOCOLS.join(', ');
  return urls.length === 0 ? [] : [`${name}: needs ${job} to be one of ${names}, got "${engine}"`];
}

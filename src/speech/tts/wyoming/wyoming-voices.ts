/** Speech synthesis over the Wyoming protocol: Home Assistant's Piper and others. */
import {
  describeWyoming,
  type WyomingArtifact,
  WyomingConnection,
  type WyomingEvent,
} from '../../network/wyoming.ts';
import {
  PROBE_TEXT,
  type ServerVoice,
  serverVoice,
  usableVoices,
  type VoiceRequest,
  type VoiceServer,
} from '../network/voice-server.ts';
import { LinePcm } from '../pool/line-pcm.ts';

/** Makes a server. It is not connected to before the first request. */
export function wyomingVoices(address: string): VoiceServer {
  return new WyomingVoices(address);
}

/** @see README.md of OHF-Voice/wyoming, "Text to Speech" */
class WyomingVoices implements VoiceServer {
  readonly address: string;
  #voices: readonly ServerVoice[] = [];
  #takesTextStream = false;

  constructor(address: string) {
    this.address = address;
  }

  get voices(): readonly ServerVoice[] {
    return this.#voices;
  }

  async probe(signal: AbortSignal): Promise<void> {
    const { voices, takesTextStream } = await describeWyoming(this.address, signal);
    if (voices === null) throw new Error('it offers no voices');
    this.#voices = usableVoices(voices.flatMap(voicesOf));
    this.#takesTextStream = takesTextStream;
    let samples = 0;
    // The server's own voice is loaded; others may have to be downloaded first.
    const request = { text: PROBE_TEXT, voice: undefined, signal };
    for await (const pcm of this.speak(request)) samples += pcm.length;
    if (samples === 0) throw new Error('it sent no audio');
  }

  async *speak({ text, voice, signal }: VoiceRequest): AsyncIterable<Int16Array> {
    const chosen = this.#nameOf(voice);
    const connection = new WyomingConnection(this.address, signal);
    if (this.#takesTextStream) {
      connection.send('synthesize-start', chosen).send('synthesize-chunk', { text });
      // `synthesize` is for servers that do not stream; streaming servers ignore it.
      connection.send('synthesize', { text, ...chosen }).send('synthesize-stop');
    } else {
      connection.send('synthesize', { text, ...chosen });
    }
    const end = this.#takesTextStream ? 'synthesize-stopped' : 'audio-stop';
    yield* soundIn(connection.events(), end);
  }

  /** @returns no voice for the server's own one. */
  #nameOf(voice: string | undefined): { readonly voice?: Readonly<Record<string, string>> } {
    if (voice === undefined) return {};
    const known = this.#voices.find(({ name }) => name === voice);
    const speaker = known?.speaker;
    if (speaker === undefined) return { voice: { name: voice } };
    return { voice: { name: voice.slice(0, -speaker.length - 1), speaker } };
  }
}

/** Voices of a server's entry: one for each language, and `voice:speaker` for each speaker. */
function voicesOf({ name, languages, speakers }: WyomingArtifact): readonly ServerVoice[] {
  const [first, ...others] = languages.length === 0 ? [undefined] : languages;
  return [
    ...[first, ...others].map((language) => serverVoice({ name, language })),
    ...speakers.map((speaker) => ({
      ...serverVoice({ name: `${name}:${speaker}`, language: first }),
      speaker,
    })),
  ];
}

/** @param end the event after the last sound. */
async function* soundIn(
  events: AsyncIterable<WyomingEvent>,
  end: string,
): AsyncIterable<Int16Array> {
  let shape: WyomingEvent['data'] = {};
  let pcm: LinePcm | undefined;
  for await (const { type, data, payload } of events) {
    if (type === 'audio-start') shape = data;
    if (type === 'audio-chunk') {
      pcm ??= linePcm({ ...shape, ...data });
      const line = pcm.push(payload);
      if (line.length > 0) yield line;
    }
    if (type === 'audio-stop' && pcm !== undefined) {
      yield pcm.flush();
      pcm = undefined;
    }
    if (type === end) return;
  }
  throw new Error('its audio broke off');
}

function linePcm({ rate, width, channels }: WyomingEvent['data']): LinePcm {
  if (width !== 2) throw new Error(`it sent samples of ${JSON.stringify(width)} bytes: expected 2`);
  return new LinePcm({ rateHz: Number(rate), channels: Number(channels), isBare: true });
}

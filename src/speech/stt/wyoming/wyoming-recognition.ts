/** Speech recognition over the Wyoming protocol: Home Assistant's faster-whisper, Vosk and others. */
import { languageOf } from '../../../lib/language-tag.ts';
import { describeWyoming, WyomingConnection, type WyomingEvent } from '../../network/wyoming.ts';
import {
  PROBE_PCM,
  type RecognitionRequest,
  type RecognitionServer,
  type RecognitionServerOptions,
  recognitionOf,
  WIDEBAND_HZ,
  wideband,
} from '../network/recognition-server.ts';
import type { Recognition } from '../pool/recognizer.ts';

const FORMAT = { rate: WIDEBAND_HZ, width: 2, channels: 1 };

/** 100 ms, as microphones send them. */
const CHUNK_SAMPLES = 1600;

/** Makes a server. It is not connected to before the first request. */
export function openRecognitionServer(
  address: string,
  { model }: RecognitionServerOptions,
): RecognitionServer {
  return new WyomingRecognition(address, model);
}

/** @see README.md of OHF-Voice/wyoming, "Speech to Text" */
class WyomingRecognition implements RecognitionServer {
  readonly address: string;
  readonly #model: string | undefined;
  /** Languages of the model, or of all where the server chooses one; empty where it does not tell. */
  #languages: readonly string[] = [];

  constructor(address: string, model: string | undefined) {
    this.address = address;
    this.#model = model;
  }

  async probe(signal: AbortSignal): Promise<void> {
    const { models } = await describeWyoming(this.address, signal);
    if (models === null) throw new Error('it offers no speech recognition');
    const named = models.filter(({ name }) => name === this.#model);
    this.#languages = (named.length > 0 ? named : models).flatMap(({ languages }) => languages);
    const [language = 'en'] = this.hears('en') ? [] : this.#languages;
    await this.recognize({ pcm: PROBE_PCM, language, signal });
  }

  hears(language: string): boolean {
    return this.#languages.length === 0 || this.#spellingOf(language) !== undefined;
  }

  async recognize({ pcm, language, signal }: RecognitionRequest): Promise<Recognition> {
    const connection = new WyomingConnection(this.address, signal);
    const asked = { language: languageOf(language), audioMs: pcm.length / 8 };
    const name = this.#model === undefined ? {} : { name: this.#model };
    connection.send('transcribe', {
      ...name,
      language: this.#spellingOf(language) ?? asked.language,
    });
    connection.send('audio-start', FORMAT);
    const samples = wideband(pcm);
    for (let at = 0; at < samples.length; at += CHUNK_SAMPLES) {
      const { buffer, byteOffset, byteLength } = samples.subarray(at, at + CHUNK_SAMPLES);
      connection.send('audio-chunk', FORMAT, new Uint8Array(buffer, byteOffset, byteLength));
    }
    connection.send('audio-stop');
    return recognitionOf(await transcriptIn(connection.events()), asked);
  }

  /** The language as the server writes it: with its region where there is one, such as `pt-BR` of `pt_BR`. */
  #spellingOf(language: string): string | undefined {
    const plain = (tag: string) => tag.toLowerCase().replace('_', '-');
    return (
      this.#languages.find((one) => plain(one) === plain(language)) ??
      this.#languages.find((one) => languageOf(one) === languageOf(language))
    );
  }
}

/** Data of the `transcript`; servers that stream its pieces send it as well, but some end without it. */
async function transcriptIn(events: AsyncIterable<WyomingEvent>): Promise<WyomingEvent['data']> {
  let text = '';
  for await (const { type, data } of events) {
    if (type === 'transcript') return data;
    if (type === 'transcript-chunk' && typeof data.text === 'string') text += data.text;
    if (type === 'transcript-stop') return { text };
  }
  throw new Error('it closed the connection without a transcript');
}

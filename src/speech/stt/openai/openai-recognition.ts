/** Speech recognition over OpenAI's transcription interface: OpenAI, speaches, vLLM, LocalAI and others. */
import { languageOf } from '../../../lib/language-tag.ts';
import { wavHeader } from '../../../media/recording/wav-file.ts';
import {
  HttpStatusError,
  limitedJson,
  operationUrl,
  request as send,
} from '../../network/speech-http.ts';
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

/** OpenAI's name, which others take as an alias of theirs. */
const DEFAULT_MODEL = 'whisper-1';

/** Forms of an answer, the most telling first; vLLM and others refuse some of them. */
const FORMATS = [
  { response_format: 'verbose_json', 'timestamp_granularities[]': 'word' },
  { response_format: 'verbose_json' },
  { response_format: 'json' },
] as const;

/** Makes a server. It is not connected to before the first request. */
export function openRecognitionServer(
  address: string,
  { model = DEFAULT_MODEL, apiKey }: RecognitionServerOptions,
): RecognitionServer {
  return new OpenAiRecognition(address, model, apiKey);
}

/** @see OpenAI API reference, "Create transcription" */
class OpenAiRecognition implements RecognitionServer {
  readonly address: string;
  readonly #model: string;
  readonly #apiKey: string | undefined;
  /** Index in `FORMATS` of the first form that the server has not refused. */
  #format = 0;

  constructor(address: string, model: string, apiKey: string | undefined) {
    this.address = address;
    this.#model = model;
    this.#apiKey = apiKey;
  }

  async probe(signal: AbortSignal): Promise<void> {
    await this.recognize({ pcm: PROBE_PCM, language: 'en', signal });
  }

  async recognize(request: RecognitionRequest): Promise<Recognition> {
    for (let format = this.#format; ; format += 1) {
      try {
        const recognition = await this.#ask(request, FORMATS[format] ?? FORMATS[0]);
        this.#format = format;
        return recognition;
      } catch (error) {
        if (!isRefusal(error) || format >= FORMATS.length - 1) throw error;
      }
    }
  }

  async #ask(
    { pcm, language, prompt, signal }: RecognitionRequest,
    format: Readonly<Record<string, string>>,
  ): Promise<Recognition> {
    const body = new FormData();
    body.set('file', new Blob([wavOf(pcm)], { type: 'audio/wav' }), 'speech.wav');
    const spoken = languageOf(language);
    const fields = { model: this.#model, language: spoken, temperature: '0', ...format };
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    if (prompt !== undefined) body.set('prompt', prompt);
    const url = operationUrl(this.address, 'audio/transcriptions');
    const init = { method: 'POST', body, signal, apiKey: this.#apiKey };
    const answer = await limitedJson(await send(url, init));
    return recognitionOf(answer, { language: spoken, audioMs: pcm.length / 8 });
  }
}

/** Whether the server may have refused only the answer's format, so that a plainer one may work. */
function isRefusal(error: unknown): boolean {
  return error instanceof HttpStatusError && (error.status === 400 || error.status === 422);
}

/** A WAV file at 16 kHz, which every server reads without resampling. */
function wavOf(pcm: Int16Array): Buffer<ArrayBuffer> {
  const samples = wideband(pcm);
  const header = wavHeader({ channels: 1, rateHz: WIDEBAND_HZ }, samples.byteLength);
  return Buffer.concat([header, Buffer.from(samples.buffer)]);
}

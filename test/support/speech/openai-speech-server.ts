/**
 * A speech server with OpenAI's audio interface, written from the API reference and from how speaches, vLLM and Kokoro-FastAPI
 * differ from it. It hears with our own tiny recogniser and speaks a tone, which no other voice has.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Recognition } from '../../../src/speech/stt/pool/recognizer.ts';
import { hear, MS_PER_CHARACTER, PIECE_MS, toneBytes } from './served-speech.ts';

const RATE_HZ = 24_000;

/** `hang`: takes the request and says nothing more. `cut`: closes the connection in the middle of an answer. */
export type ServerFault = 'none' | 'slow' | 'hang' | 'refuse' | 'garbage' | 'cut';

const SLOW_MS = 600;

/** Recognises 16 kHz sound. */
export type Hearing = (pcm: Int16Array, language: string) => Promise<Recognition>;

interface Heard {
  readonly fields: Readonly<Record<string, string>>;
  readonly rateHz: number;
  readonly audioMs: number;
  readonly isSilent: boolean;
}

export class OpenAiSpeechServer {
  /** May be changed between requests; a hanging request stays so. */
  fault: ServerFault = 'none';
  /** Field values that are refused with 400, as `name=value`. */
  readonly refused = new Set<string>();
  voices: readonly unknown[] | null = ['af_heart', 'am_michael'];
  /** Transcription requests, those of probes included. */
  readonly heard: Heard[] = [];
  /** Bodies of speech requests, those of probes included. */
  readonly spoken: Readonly<Record<string, unknown>>[] = [];
  readonly authorizations = new Set<string>();
  /** Requests that the client has given up. */
  abandoned = 0;
  /** How much faster than it is spoken speech is sent. */
  speedup = 5;
  readonly #server: Server;

  readonly #hear: Hearing;

  private constructor(hearing: Hearing) {
    this.#hear = hearing;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  /** @param hearing default: our own tiny recogniser. */
  static async start(port = 0, hearing: Hearing = hear): Promise<OpenAiSpeechServer> {
    const server = new OpenAiSpeechServer(hearing);
    await new Promise<void>((resolve) => server.#server.listen(port, '127.0.0.1', resolve));
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get address(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Requests with speech, without probes. */
  get wordsHeard(): readonly Heard[] {
    return this.heard.filter(({ isSilent }) => !isSilent);
  }

  get textsSpoken(): readonly string[] {
    return this.spoken.map(({ input }) => String(input)).filter((text) => text !== 'Hello.');
  }

  /** Ends at once, as when the process is killed. */
  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('close', () => {
      if (!response.writableFinished) this.abandoned += 1;
    });
    this.authorizations.add(request.headers.authorization ?? '');
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const body = Buffer.concat(pieces);
    const { url } = request;
    if (url === '/v1/audio/voices' && this.voices !== null) {
      return send(response, 200, { voices: this.voices });
    }
    if (url === '/v1/audio/transcriptions') return this.#transcribe(request, body, response);
    if (url === '/v1/audio/speech') return this.#speak(body, response);
    return send(response, 404, { detail: 'Not Found' });
  }

  /** @returns whether the fault has taken the request. */
  async #fails(response: ServerResponse): Promise<boolean> {
    if (this.fault === 'hang') return true;
    if (this.fault === 'refuse') send(response, 500, { error: { message: 'CUDA out of memory' } });
    if (this.fault === 'garbage') response.end('<html>It works!</html>');
    if (this.fault === 'slow') await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
    return this.fault === 'refuse' || this.fault === 'garbage';
  }

  #refuses(fields: Readonly<Record<string, unknown>>, response: ServerResponse): boolean {
    const wrong = Object.entries(fields).find(([name, value]) =>
      this.refused.has(`${name}=${value}`),
    );
    if (wrong === undefined) return false;
    send(response, 400, { error: { message: `${wrong[0]} is not supported` } });
    return true;
  }

  async #transcribe(
    request: IncomingMessage,
    body: Buffer,
    response: ServerResponse,
  ): Promise<void> {
    const type = request.headers['content-type'] ?? '';
    const headers = { 'content-type': type };
    const form = await new Response(new Uint8Array(body), { headers }).formData();
    const wav = Buffer.from(await (form.get('file') as File).arrayBuffer());
    const rateHz = wav.readUInt32LE(24);
    const pcm = new Int16Array(Uint8Array.from(wav.subarray(44)).buffer);
    const fields = Object.fromEntries(
      [...form].filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    );
    const isSilent = pcm.every((sample) => Math.abs(sample) < 10);
    this.heard.push({ fields, rateHz, audioMs: (pcm.length * 1000) / rateHz, isSilent });
    if (this.#refuses(fields, response) || (await this.#fails(response))) return;
    const recognition = await this.#hear(pcm, fields.language ?? 'en');
    if (this.fault === 'cut') return void cut(response, '{"text":"I wou');
    const isVerbose = fields.response_format === 'verbose_json';
    const isTimed = fields['timestamp_granularities[]'] === 'word';
    send(response, 200, {
      text: recognition.text,
      ...(isVerbose && {
        language: 'english',
        duration: recognition.audioMs / 1000,
        segments: [
          {
            start: 0,
            end: recognition.audioMs / 1000,
            text: recognition.text,
            avg_logprob: Math.log(Math.max(1e-6, recognition.confidence)),
            no_speech_prob: recognition.noSpeechProbability,
          },
        ],
      }),
      ...(isTimed && {
        words: recognition.words.map(({ text, startMs = 0, endMs = 0 }) => ({
          word: text,
          start: startMs / 1000,
          end: endMs / 1000,
        })),
      }),
    });
  }

  async #speak(body: Buffer, response: ServerResponse): Promise<void> {
    const fields = JSON.parse(body.toString('utf8')) as Record<string, unknown>;
    this.spoken.push(fields);
    if (this.#refuses(fields, response) || (await this.#fails(response))) return;
    const totalMs = String(fields.input).length * MS_PER_CHARACTER;
    response.writeHead(200, { 'content-type': 'audio/pcm' });
    for (let atMs = 0; atMs < totalMs; atMs += PIECE_MS) {
      if (response.destroyed) return;
      if (this.fault === 'cut' && atMs >= totalMs / 2) return void response.destroy();
      response.write(toneBytes(RATE_HZ, atMs, Math.min(PIECE_MS, totalMs - atMs)));
      await new Promise((resolve) => setTimeout(resolve, PIECE_MS / this.speedup));
    }
    response.end();
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** Promises more bytes than come. */
function cut(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-length': '1000' });
  response.write(text, () => response.destroy());
}

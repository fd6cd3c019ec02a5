/**
 * A speech server with the Wyoming protocol, written from its README and from how wyoming-faster-whisper and wyoming-piper
 * use it. It hears with our own tiny recogniser and speaks a tone, which no other voice has.
 */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { hear, MS_PER_CHARACTER, PIECE_MS, toneBytes } from './served-speech.ts';

const RATE_HZ = 22_050;
const PIECE_OF_WORDS = 7;

/**
 * `hang`: takes the request and says nothing more. `refuse`: reports an error. `garbage`: speaks another protocol. `cut`: closes
 * the connection in the middle of an answer. `endless`: answers, and never ends.
 */
export type WyomingFault = 'none' | 'hang' | 'refuse' | 'garbage' | 'cut' | 'endless';

export type Fields = Readonly<Record<string, unknown>>;

interface Event {
  readonly type: string;
  readonly data: Fields;
  readonly payload: Buffer;
}

export class WyomingSpeechServer {
  /** May be changed between requests; a hanging request stays so. */
  fault: WyomingFault = 'none';
  /** Whether transcripts and texts come in pieces. */
  isStreaming = false;
  offers: readonly ('asr' | 'tts')[] = ['asr', 'tts'];
  languages: readonly string[] = ['en', 'de'];
  voices: readonly Fields[] = [
    { name: 'en_US-amy-medium', languages: ['en_US'], installed: true },
    { name: 'de_DE-thorsten-medium', languages: ['de_DE'], installed: true },
  ];
  /** Data of `transcribe` events, with the length of the audio that followed; those of probes included. */
  readonly heard: (Fields & { readonly audioMs: number; readonly isSilent: boolean })[] = [];
  /** Data of requests for speech, those of probes included. */
  readonly spoken: Fields[] = [];
  /** Types of the client's events, by connection. */
  readonly exchanges: string[][] = [];
  /** Connections that the client has closed in the middle of an answer. */
  abandoned = 0;
  /** How much faster than it is spoken speech is sent. */
  speedup = 5;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor() {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket));
      this.#serve(socket).catch(() => socket.destroy());
    });
  }

  static async start(port = 0): Promise<WyomingSpeechServer> {
    const server = new WyomingSpeechServer();
    await new Promise<void>((resolve) => server.#server.listen(port, '127.0.0.1', resolve));
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get address(): string {
    return `tcp://127.0.0.1:${this.port}`;
  }

  /** Requests with speech, without probes. */
  get wordsHeard(): readonly Fields[] {
    return this.heard.filter(({ isSilent }) => !isSilent);
  }

  /** Ends at once, as when the process is killed. */
  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #serve(socket: Socket): Promise<void> {
    const exchange: string[] = [];
    this.exchanges.push(exchange);
    let request: Fields = {};
    let text = '';
    const audio: Buffer[] = [];
    for await (const { type, data, payload } of eventsOf(socket)) {
      exchange.push(type);
      switch (type) {
        case 'describe':
          send(socket, 'info', this.#info());
          break;
        case 'transcribe':
        case 'synthesize-start':
          request = data;
          break;
        case 'audio-chunk':
          audio.push(payload);
          break;
        case 'audio-stop':
          await this.#transcribe(socket, request, Buffer.concat(audio));
          break;
        case 'synthesize-chunk':
          text += String(data.text);
          break;
        case 'synthesize-stop':
          await this.#speak(socket, { ...request, text });
          break;
        case 'synthesize':
          if (!this.isStreaming) await this.#speak(socket, data);
          break;
      }
    }
  }

  #info(): Fields {
    const about = { attribution: { name: '', url: '' }, description: '', version: '1' };
    const program = { name: 'double', installed: true, ...about };
    const model = { name: 'tiny', languages: this.languages, installed: true, ...about };
    const [asr, tts] = [
      { ...program, models: [model], supports_transcript_streaming: this.isStreaming },
      { ...program, voices: this.voices, supports_synthesize_streaming: this.isStreaming },
    ];
    const programs = { asr: [asr], tts: [tts] };
    return { wake: [], ...Object.fromEntries(this.offers.map((job) => [job, programs[job]])) };
  }

  /** @returns whether the fault has taken the request. */
  #fails(socket: Socket): boolean {
    if (this.fault === 'refuse') send(socket, 'error', { text: 'CUDA out of memory', code: 'X' });
    if (this.fault === 'garbage') socket.write('HTTP/1.1 400 Bad Request\r\n\r\n');
    return ['hang', 'refuse', 'garbage'].includes(this.fault);
  }

  async #transcribe(socket: Socket, request: Fields, bytes: Buffer): Promise<void> {
    const pcm = new Int16Array(Uint8Array.from(bytes).buffer);
    const isSilent = pcm.every((sample) => Math.abs(sample) < 10);
    this.heard.push({ ...request, audioMs: pcm.length / 16, isSilent });
    if (this.#fails(socket)) return;
    if (this.fault === 'cut') {
      socket.end('{"type": "transcript", "data_length": 40}\n{"text": "I wou');
      return;
    }
    while (this.fault === 'endless' && !socket.destroyed) {
      send(socket, 'transcript-chunk', { text: ' and' });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const { text } = await hear(pcm, String(request.language ?? 'en'));
    if (this.isStreaming) {
      send(socket, 'transcript-start', {});
      for (let at = 0; at < text.length; at += PIECE_OF_WORDS) {
        send(socket, 'transcript-chunk', { text: text.slice(at, at + PIECE_OF_WORDS) });
      }
    }
    send(socket, 'transcript', { text });
    if (this.isStreaming) send(socket, 'transcript-stop', {});
    // As wyoming-faster-whisper does.
    socket.end();
  }

  async #speak(socket: Socket, request: Fields): Promise<void> {
    this.spoken.push(request);
    if (this.#fails(socket)) return;
    const format = { rate: RATE_HZ, width: 2, channels: 1 };
    const isEndless = this.fault === 'endless';
    const totalMs = isEndless ? 1e9 : String(request.text).length * MS_PER_CHARACTER;
    send(socket, 'audio-start', format);
    for (let atMs = 0; atMs < totalMs; atMs += PIECE_MS) {
      if (socket.destroyed) {
        this.abandoned += 1;
        return;
      }
      if (this.fault === 'cut' && atMs >= totalMs / 2) {
        socket.destroy();
        return;
      }
      const piece = toneBytes(RATE_HZ, atMs, Math.min(PIECE_MS, totalMs - atMs));
      send(socket, 'audio-chunk', format, piece);
      await new Promise((resolve) => setTimeout(resolve, PIECE_MS / this.speedup));
    }
    send(socket, 'audio-stop', {});
    if (this.isStreaming) send(socket, 'synthesize-stopped', {});
  }
}

function send(socket: Socket, type: string, data: Fields, payload?: Buffer): void {
  const more = Buffer.from(JSON.stringify(data));
  const header = { type, version: '1.9.0', data_length: more.length };
  const lengths = payload === undefined ? header : { ...header, payload_length: payload.length };
  socket.write(Buffer.concat([Buffer.from(`${JSON.stringify(lengths)}\n`), more]));
  if (payload !== undefined) socket.write(payload);
}

/** Reads what a client sends. */
async function* eventsOf(socket: Socket): AsyncIterable<Event> {
  let rest = Buffer.alloc(0);
  for await (const bytes of socket) {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      const end = rest.indexOf('\n');
      if (end < 0) break;
      const header = JSON.parse(rest.toString('utf8', 0, end));
      const dataEnd = end + 1 + (header.data_length ?? 0);
      const payloadEnd = dataEnd + (header.payload_length ?? 0);
      if (rest.length < payloadEnd) break;
      const more = dataEnd === end + 1 ? '{}' : rest.toString('utf8', end + 1, dataEnd);
      const data = { ...header.data, ...JSON.parse(more) };
      yield { type: header.type, data, payload: Buffer.from(rest.subarray(dataEnd, payloadEnd)) };
      rest = rest.subarray(payloadEnd);
    }
  }
}

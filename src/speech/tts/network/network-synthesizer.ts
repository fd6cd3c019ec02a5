/** Speaks with voices of servers on the network; the local engine speaks what they do not. */
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { SpeechServerCounts } from '../../../lib/metrics/model-metrics.ts';
import { LINE_RATE_HZ } from '../../../media/audio-stream.ts';
import type { EngineReport } from '../../hearing/hearing.ts';
import { logServerChange, serverReport } from '../../network/server-report.ts';
import {
  messageOf,
  type ServerLease,
  type ServerState,
  SpeechServers,
} from '../../network/speech-servers.ts';
import { spokenText } from '../pool/spoken-text.ts';
import type { SpeechRequest, Synthesizer, VoiceChoice } from '../pool/synthesizer.ts';
import { serverVoiceFor, type VoiceRules } from './server-voices.ts';
import { SpeakingPace, unspokenPart } from './unspoken-part.ts';
import type { VoiceServer } from './voice-server.ts';

/** Servers that a sentence tries before the local engine. */
const ATTEMPTS_MAX = 2;

export interface NetworkSynthesizerOptions {
  /** As in the setting `TTS`. */
  readonly engine: string;
  readonly servers: readonly VoiceServer[];
  readonly rules: VoiceRules;
  /** Longest wait for the next audio. */
  readonly timeoutMs: number;
  readonly local: Synthesizer;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly counts: SpeechServerCounts;
}

export class NetworkSynthesizer implements Synthesizer {
  readonly #options: NetworkSynthesizerOptions;
  readonly #servers: SpeechServers<VoiceServer>;
  readonly #pace = new SpeakingPace();
  #states: readonly ServerState[] = [];

  constructor(options: NetworkSynthesizerOptions) {
    const { servers, clock, counts } = options;
    this.#options = options;
    this.#servers = new SpeechServers({
      servers,
      clock,
      onStates: (states) => this.#takeStates(states),
      onRequest: (address, tookMs) => counts.asked('tts', address, tookMs),
    });
  }

  /** Servers that do not answer are no reason to fail: they may start later. */
  async start(): Promise<void> {
    await Promise.all([this.#options.local.start(), this.#servers.start()]);
    this.#takeStates(this.#servers.states());
  }

  async stop(): Promise<void> {
    this.#servers.stop();
    await this.#options.local.stop();
  }

  async *speak(request: SpeechRequest): AsyncIterable<Int16Array> {
    const { signal } = request;
    signal?.throwIfAborted();
    const text = spokenText(request.text);
    if (text === '') return;
    const tried = new Set<VoiceServer>();
    while (tried.size < ATTEMPTS_MAX) {
      const lease = this.#servers.lend(new Set([...tried, ...this.#mute(request)]));
      if (lease === null) break;
      tried.add(lease.server);
      const saying = { text, request, lease, heardMs: 0 };
      try {
        yield* this.#speakBy(saying);
        return;
      } catch (error) {
        if (signal?.aborted === true) throw error;
        lease.failed(messageOf(error));
        if (saying.heardMs === 0) continue;
        yield* this.#finish(saying);
        return;
      } finally {
        lease.dropped();
      }
    }
    if (this.#mute(request).length < this.#servers.servers.length) {
      this.#options.counts.fellBack('tts');
    }
    yield* this.#options.local.speak(request);
  }

  report(): EngineReport {
    const { engine, local } = this.#options;
    const states = this.#servers.states();
    return serverReport({ job: 'tts', engine, states, local: local.report() });
  }

  reportFor(choice: VoiceChoice): EngineReport {
    const { local } = this.#options;
    const hasVoice = this.#servers.working.some((server) => this.#hasVoice(server, choice));
    return hasVoice ? this.report() : (local.reportFor?.(choice) ?? local.report());
  }

  /** Servers without a voice of the language. */
  #mute(choice: VoiceChoice): readonly VoiceServer[] {
    return this.#servers.servers.filter((server) => !this.#hasVoice(server, choice));
  }

  #hasVoice({ voices }: VoiceServer, choice: VoiceChoice): boolean {
    return serverVoiceFor(choice, voices, this.#options.rules) !== null;
  }

  async *#speakBy(saying: Saying): AsyncIterable<Int16Array> {
    const { text, request, lease } = saying;
    const { clock, timeoutMs, rules } = this.#options;
    const voice = serverVoiceFor(request, lease.server.voices, rules) ?? undefined;
    const end = new AbortController();
    const signal = AbortSignal.any([end.signal, ...(request.signal ? [request.signal] : [])]);
    const startMs = clock.nowMs();
    let firstMs = 0;
    const audio = lease.server.speak({ text, voice, signal })[Symbol.asyncIterator]();
    try {
      for (;;) {
        const cancel = clock.after(timeoutMs, () =>
          end.abort(new Error(`no audio for ${timeoutMs} ms`)),
        );
        const { done, value } = await untilAborted(audio.next(), signal).finally(cancel);
        if (done === true) break;
        if (value.length === 0) continue;
        if (saying.heardMs === 0) firstMs = clock.nowMs() - startMs;
        saying.heardMs += (value.length * 1000) / LINE_RATE_HZ;
        yield value;
      }
    } finally {
      end.abort(new Error('the sentence is over'));
      void audio.return?.().catch(() => undefined);
    }
    if (saying.heardMs === 0) throw new Error('it sent no audio');
    // Not before its end: a server whose audio breaks off has failed.
    lease.answered(firstMs);
    this.#pace.learn(text, saying.heardMs);
  }

  /** Speaks the rest of a sentence that broke off, from the start of the broken clause: no word is lost. */
  async *#finish({ text, request, heardMs }: Saying): AsyncIterable<Int16Array> {
    this.#options.counts.fellBack('tts');
    const rest = unspokenPart(text, heardMs, this.#pace.msPerCharacter);
    if (rest === '') return;
    const { onWords: _, ...plain } = request;
    yield* this.#options.local.speak({ ...plain, text: rest });
  }

  #takeStates(states: readonly ServerState[]): void {
    const { logger, counts } = this.#options;
    const before = new Map(this.#states.map((state) => [state.address, state]));
    for (const state of states) {
      logServerChange(logger, 'tts', before.get(state.address), state);
      counts.isUp('tts', state.address, state.isUp);
    }
    this.#states = states;
  }
}

interface Saying {
  readonly text: string;
  readonly request: SpeechRequest;
  readonly lease: ServerLease<VoiceServer>;
  heardMs: number;
}

/** A server's stream may not notice the signal. */
function untilAborted<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    value
      .then(resolve, (error: unknown) => reject(signal.aborted ? signal.reason : error))
      .finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Speaks with voices of servers on the network; the local engine speaks the sentences that they do not. */
import { type Clock, unlessAborted } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { SpeechServerCounts } from '../../../lib/metrics/model-metrics.ts';
import { messageOf } from '../../../lib/unknown-value.ts';
import { LINE_RATE_HZ } from '../../../media/audio-stream.ts';
import type { EngineReport } from '../../hearing/hearing.ts';
import {
  logServerChange,
  type ServerLease,
  type ServerState,
  SpeechServers,
  serverReport,
} from '../../network/speech-servers.ts';
import {
  type SpeechRequest,
  type Synthesizer,
  spokenText,
  type VoiceChoice,
} from '../pool/synthesizer.ts';
import {
  likelyVoice,
  type ServerVoice,
  serverVoice,
  serverVoiceFor,
  type VoiceRules,
  type VoiceServer,
} from './voice-server.ts';

/** Servers that a sentence tries before the local engine. */
const ATTEMPTS_MAX = 2;

/** More audio than this is no reading of the text: four times the usual pace, for scripts with few letters a word. */
const audioMsMax = (text: string, msPerCharacter: number) =>
  10_000 + 4 * text.length * msPerCharacter;

/** A model that computes no numbers, as with half precision on a card that lacks it, sends silence; voices have none of it at -60 dBFS. */
const SILENCE_PEAK_MAX = 32;

/** Longest silence before the first word; voices begin within 0.5 s. */
const SILENCE_MS_MAX = 1500;

const SILENT = 'its audio is silent';

export interface NetworkSynthesizerOptions {
  /** Name as in the setting `TTS`. */
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
      const lease = this.#lend(request, tried);
      if (lease === null) break;
      tried.add(lease.server);
      const saying = { text, request, lease, heardMs: 0, hasSound: false, isEndless: false };
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
    yield* this.#speakLocally(request);
  }

  report(): EngineReport {
    const { engine, local } = this.#options;
    const states = this.#servers.states();
    return serverReport({ job: 'tts', engine, states, local: local.report() });
  }

  reportFor(choice: VoiceChoice): EngineReport {
    const { local } = this.#options;
    const able = this.#servers.servers.filter((server) => this.#hasVoice(server, choice));
    const working = this.#servers.working;
    if (able.some((server) => working.includes(server))) return this.report();
    const report = local.reportFor?.(choice) ?? local.report();
    return able.length > 0 ? { ...report, isFallback: true } : report;
  }

  /** Voices that agents can name, each once: the servers' newest lists, and the standard voice. */
  offeredVoices(): readonly ServerVoice[] {
    const { standard } = this.#options.rules;
    const voices = this.#servers.servers.flatMap((server) => server.voices);
    const configured = standard === undefined ? [] : [serverVoice({ name: standard })];
    // Of equal names the last entry stays.
    const byName = new Map([...configured, ...voices.toReversed()].map((one) => [one.name, one]));
    return [...byName.values()];
  }

  /** Lends a server that has the agent's voice by its name, else one that has a similar voice. */
  #lend(request: SpeechRequest, tried: ReadonlySet<VoiceServer>): ServerLease<VoiceServer> | null {
    const except = new Set([...tried, ...this.#mute(request)]);
    const others = this.#servers.servers.filter(
      ({ voices }) => !voices.some(({ name }) => name === request.voice),
    );
    return this.#servers.lend(new Set([...except, ...others])) ?? this.#servers.lend(except);
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
    const heardMsMax = audioMsMax(text, this.#pace.msPerCharacter);
    let firstMs = 0;
    // Without the wait for the first audio.
    let waitedMs = 0;
    const audio = lease.server.speak({ text, voice, signal })[Symbol.asyncIterator]();
    try {
      for (;;) {
        const limitMs = Math.min(timeoutMs, timeoutMs + saying.heardMs - waitedMs);
        const fault =
          limitMs < timeoutMs ? 'its audio comes too slowly' : `no audio for ${timeoutMs} ms`;
        const cancel = clock.after(limitMs, () => end.abort(new Error(fault)));
        const askedMs = clock.nowMs();
        const { done, value } = await unlessAborted(audio.next(), signal).finally(cancel);
        if (done === true) break;
        if (saying.heardMs > 0) waitedMs += clock.nowMs() - askedMs;
        else firstMs = clock.nowMs() - startMs;
        hear(saying, value, heardMsMax);
        if (value.length > 0) yield value;
      }
    } finally {
      end.abort(new Error('the sentence is over'));
      void audio.return?.().catch(() => undefined);
    }
    if (saying.heardMs === 0) throw new Error('it sent no audio');
    if (!saying.hasSound) throw new Error(SILENT);
    // Not before its end: a server whose audio breaks off has failed.
    lease.answered(firstMs);
    this.#pace.learn(text, saying.heardMs);
  }

  /** Speaks the rest of a sentence that broke off, from the start of the broken clause: no word is lost. */
  async *#finish(saying: Saying): AsyncIterable<Int16Array> {
    const { text, request, heardMs, hasSound, isEndless } = saying;
    this.#options.counts.fellBack('tts');
    const rest =
      isEndless || !hasSound ? text : unspokenPart(text, heardMs, this.#pace.msPerCharacter);
    if (rest === '') return;
    const { onWords: _, ...plain } = request;
    yield* this.#speakLocally({ ...plain, text: rest });
  }

  /** The local voice is as like the server's own one as there is. */
  #speakLocally(request: SpeechRequest): AsyncIterable<Int16Array> {
    const { local, rules } = this.#options;
    const own = this.offeredVoices().find(({ name }) => name === request.voice);
    const voice = own === undefined ? request.voice : likelyVoice(own, rules.book);
    return local.speak({ ...request, voice });
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
  /** Whether any of it was louder than silence. */
  hasSound: boolean;
  /** Whether there was more audio than the text can take: it was not the text. */
  isEndless: boolean;
}

/** Adds audio to a sentence. @throws {Error} when it cannot be the text. */
function hear(saying: Saying, pcm: Int16Array, heardMsMax: number): void {
  saying.heardMs += (pcm.length * 1000) / LINE_RATE_HZ;
  saying.isEndless = saying.heardMs > heardMsMax;
  if (saying.isEndless) throw new Error('its audio does not end');
  saying.hasSound ||= pcm.some((sample) => Math.abs(sample) > SILENCE_PEAK_MAX);
  if (!saying.hasSound && saying.heardMs > SILENCE_MS_MAX) throw new Error(SILENT);
}

/** 15 characters a second, until a server has spoken some. */
const MS_PER_CHARACTER = 66;

/** Weight of the newest sentence: about the last ten count. */
const NEWEST_WEIGHT = 0.2;

/** Shorter texts are mostly pauses. */
const CHARACTERS_MIN = 20;

/** The estimate is this uncertain: a clause is taken as said when it ended that much earlier. */
const SURELY_SAID = 0.85;

/** Running mean of how long a character takes. */
export class SpeakingPace {
  #msPerCharacter = MS_PER_CHARACTER;

  get msPerCharacter(): number {
    return this.#msPerCharacter;
  }

  learn(text: string, audioMs: number): void {
    if (text.length < CHARACTERS_MIN) return;
    this.#msPerCharacter += (audioMs / text.length - this.#msPerCharacter) * NEWEST_WEIGHT;
  }
}

/**
 * The text from the start of the clause in which the audio broke off. A clause that may not have been said to its end is
 * said again: a repeated clause is understood, a lost one is not.
 *
 * @returns empty where all of it was said.
 */
export function unspokenPart(text: string, heardMs: number, msPerCharacter: number): string {
  const said = (SURELY_SAID * heardMs) / msPerCharacter;
  if (said >= text.length) return '';
  const starts = [...text.matchAll(/[,;:.!?…—]+\s+/gu)].map(
    ({ index, 0: mark }) => index + mark.length,
  );
  const start = starts.findLast((place) => place <= said) ?? 0;
  return text.slice(start);
}

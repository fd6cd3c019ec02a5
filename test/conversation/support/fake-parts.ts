/** SpeechListener, voice and model of a conversation under test: scripted, and as quick as the fake clock says. */
import type { Clock } from '../../../src/lib/clock.ts';
import type { LanguageModel, ModelEvent, ModelRequest } from '../../../src/llm/language-model.ts';
import { LINE_RATE_HZ } from '../../../src/media/audio-stream.ts';
import type { SpeechListener, Utterance, VoiceEvent } from '../../../src/speech/hearing/hearing.ts';
import type { SpeechRequest, Synthesizer } from '../../../src/speech/tts/pool/synthesizer.ts';

export function waitFor(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(delayMs, resolve);
    signal?.addEventListener('abort', () => {
      cancel();
      reject(signal.reason);
    });
  });
}

export function utteranceOf(text: string, confidence = 0.9): Utterance {
  const words = text.split(' ').map((word) => ({ text: word, confidence }));
  const figures = { noSpeechProbability: 0, audioMs: 1000, tookMs: 80 };
  return { text, words, confidence, language: 'en', ...figures };
}

export class FakeListener implements SpeechListener {
  /** What the caller is saying now; an error makes the recogniser fail. */
  says: string | Error = '';
  tookMs = 80;
  readonly begunAtMs: number[] = [];
  requests = 0;
  endings = 0;
  readonly #clock: Clock;
  #listener: (event: VoiceEvent) => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  onVoice(listener: (event: VoiceEvent) => void): void {
    this.#listener = listener;
  }

  emit(event: VoiceEvent): void {
    this.#listener(event);
  }

  beginUtterance(fromMs: number): void {
    this.begunAtMs.push(fromMs);
  }

  async transcribe(request: { readonly signal?: AbortSignal }): Promise<Utterance> {
    this.requests += 1;
    await waitFor(this.#clock, this.tookMs, request.signal);
    if (this.says instanceof Error) throw this.says;
    return utteranceOf(this.says);
  }

  endUtterance(): void {
    this.endings += 1;
  }

  close(): void {}
}

/** Speaks 60 ms a character, in one chunk, 60 ms after it was asked. */
export class FakeSynthesizer implements Synthesizer {
  readonly spoken: string[] = [];
  tookMs = 60;
  failure: Error | undefined;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }

  async *speak(request: SpeechRequest): AsyncIterable<Int16Array> {
    this.spoken.push(request.text);
    await waitFor(this.#clock, this.tookMs, request.signal);
    if (this.failure !== undefined) throw this.failure;
    yield new Int16Array((request.text.length * 60 * LINE_RATE_HZ) / 1000);
  }

  report() {
    return { job: 'tts', engine: 'fake', reason: 'test', isFallback: false } as const;
  }
}

/** Answers each request with the next of `answers`: words after 120 ms, then 10 ms a word. */
export class FakeModel implements LanguageModel {
  readonly name = 'fake';
  readonly requests: ModelRequest[] = [];
  answers: (readonly ModelEvent[] | Error | 'hang')[] = [];
  aborted = 0;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async *stream(request: ModelRequest): AsyncIterable<ModelEvent> {
    this.requests.push(request);
    request.signal.addEventListener('abort', () => {
      this.aborted += 1;
    });
    const answer = this.answers.shift() ?? [];
    await waitFor(this.#clock, answer === 'hang' ? 3_600_000 : 120, request.signal);
    if (answer instanceof Error) throw answer;
    if (answer === 'hang') return;
    for (const event of answer) {
      yield event;
      await waitFor(this.#clock, 10, request.signal);
    }
  }

  check(): Promise<void> {
    return Promise.resolve();
  }
}

/** The answer in words, as a model streams them. */
export function says(text: string): ModelEvent[] {
  return text.split(/(?=\s)/).map((word) => ({ kind: 'text', text: word }));
}

export function calls(name: string, args: Readonly<Record<string, unknown>> = {}): ModelEvent {
  return { kind: 'tool-call', call: { id: `call-${name}`, name, arguments: args } };
}

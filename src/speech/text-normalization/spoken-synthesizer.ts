/** A synthesizer that is given texts as they are written and has them read as they are said. */
import type { EngineReport } from '../hearing/hearing.ts';
import type { SpeechRequest, Synthesizer, VoiceChoice } from '../tts/pool/synthesizer.ts';
import { spokenForm } from './spoken-form.ts';

/** In front of an engine. Tells when the words of the written text end, by what the engine knows of the spoken one. */
export class SpokenSynthesizer implements Synthesizer {
  readonly #synthesizer: Synthesizer;

  constructor(synthesizer: Synthesizer) {
    this.#synthesizer = synthesizer;
  }

  start(): Promise<void> {
    return this.#synthesizer.start();
  }

  stop(): Promise<void> {
    return this.#synthesizer.stop();
  }

  speak(request: SpeechRequest): AsyncIterable<Int16Array> {
    const { pronunciations = [], onWords, ...rest } = request;
    const form = spokenForm(request.text, { language: request.language, pronunciations });
    const spoken = { ...rest, text: form.text };
    if (onWords === undefined) return this.#synthesizer.speak(spoken);
    onWords(form.wordEnds());
    return this.#synthesizer.speak({ ...spoken, onWords: (ends) => onWords(form.wordEnds(ends)) });
  }

  report(): EngineReport {
    return this.#synthesizer.report();
  }

  reportFor(voice: VoiceChoice): EngineReport {
    return this.#synthesizer.reportFor?.(voice) ?? this.#synthesizer.report();
  }
}

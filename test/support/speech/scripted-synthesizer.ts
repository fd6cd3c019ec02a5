/** A synthesizer that spells: each letter becomes a chunk of samples of its own value. */
import type { EngineReport } from '../../../src/speech/hearing/hearing.ts';
import {
  type SpeechRequest,
  SynthesisError,
  type Synthesizer,
} from '../../../src/speech/tts/pool/synthesizer.ts';

/** Speaks `samplesPerLetter` samples for each letter, in chunks of one letter; "fail" cannot be spoken. */
export class ScriptedSynthesizer implements Synthesizer {
  readonly #samplesPerLetter: number;
  /** Every request, in order. */
  readonly asked: SpeechRequest[] = [];
  /** How many were spoken to their end. */
  finished = 0;
  starts = 0;
  isRunning = false;

  constructor(samplesPerLetter = 80) {
    this.#samplesPerLetter = samplesPerLetter;
  }

  async start(): Promise<void> {
    this.starts += 1;
    this.isRunning = true;
  }

  async stop(): Promise<void> {
    this.isRunning = false;
  }

  report(): EngineReport {
    return { job: 'tts', engine: 'scripted', reason: 'for tests', isFallback: true };
  }

  async *speak(request: SpeechRequest): AsyncIterable<Int16Array> {
    this.asked.push(request);
    const letters = [...request.text];
    for (const letter of letters) {
      request.signal?.throwIfAborted();
      if (request.text === 'fail') {
        throw new SynthesisError('Cannot speak "fail": asked not to');
      }
      yield new Int16Array(this.#samplesPerLetter).fill(letter.codePointAt(0) ?? 0);
    }
    this.finished++;
  }
}

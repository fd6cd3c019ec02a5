/** The registry of TTS engines, which the setting `TTS`, the composition root and the reports read. */

import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
// To add a neural engine, for example `acme`:
// 1. `acme/acme-model.ts` exports `openVoiceModel` (port: `neural/voice-model.ts`); it runs in a child process.
// 2. `acme/acme-engine.ts` exports `acmeEngine`, which calls `voiceEngine(options, { name, modelModule, find, remedy })`.
// 3. Add `acme: acmeEngine` to `TTS_ENGINES` below, and `acme` to the adapters in `test/tidy.test.ts`.
// 4. Optional: name its voices in `models/voices.json`, under `acme`.
// An engine of another kind implements `SynthesizerEngine` (`pool/choose-synthesizer.ts`) instead of steps 1 and 2.
import type { Provider } from '../../lib/onnx/onnx-providers.ts';
import { espeakProgramEngine, espeakWasmEngine } from './espeak/espeak-engines.ts';
import { kokoroEngine } from './kokoro/kokoro-engine.ts';
import type { OpenVoiceServer } from './network/voice-server.ts';
import type { VoiceEngineOptions } from './neural/voice-engine.ts';
import { openAiVoices } from './openai/openai-voices.ts';
import { piperEngine } from './piper/piper-engine.ts';
import type { SynthesizerEngine } from './pool/choose-synthesizer.ts';
import type { VoiceBook } from './voices/voice-book.ts';
import { wyomingVoices } from './wyoming/wyoming-voices.ts';

/** Engines by their names in the setting `TTS`, best first: `auto` takes the first usable one. */
const TTS_ENGINES = {
  kokoro: kokoroEngine,
  piper: piperEngine,
  espeak: ({ book, ...options }) => espeakProgramEngine({ voices: book, ...options }),
  'espeak-wasm': ({ book, ...options }) => espeakWasmEngine({ voices: book, ...options }),
} as const satisfies Record<string, (options: VoiceEngineOptions) => SynthesizerEngine>;

/** Values of the setting `TTS` besides `auto`. */
export const TTS_ENGINE_NAMES = Object.keys(TTS_ENGINES) as (keyof typeof TTS_ENGINES)[];

/** Voice servers, by the protocol that `TTS` names. */
export const VOICE_SERVERS: Readonly<Record<'openai' | 'wyoming', OpenVoiceServer>> = {
  openai: openAiVoices,
  wyoming: wyomingVoices,
};

/** Makes all engines, best first. The neural ones take their phonemes from espeak-ng, program or WASM build. */
export function ttsEngines(options: {
  readonly modelsDir: string;
  readonly providers: readonly Provider[];
  readonly book: VoiceBook;
  readonly clock: Clock;
  readonly logger: Logger;
}): readonly SynthesizerEngine[] {
  const phonemizer = { program: 'espeak-ng', moduleName: 'espeak-ng' };
  const phonemizerModule = new URL('./espeak/espeak-phonemizer.ts', import.meta.url).href;
  return Object.values(TTS_ENGINES).map((engine) =>
    engine({ ...options, phonemizer, phonemizerModule }),
  );
}

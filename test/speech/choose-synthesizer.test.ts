/** Which engine speaks, and what the operator is told. */
import { expect, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { espeakEngines } from '../../src/speech/tts/espeak/espeak-engines.ts';
import {
  chooseSynthesizer,
  type SynthesizerEngine,
} from '../../src/speech/tts/pool/choose-synthesizer.ts';
import { loadVoiceBook } from '../../src/speech/tts/voices/voice-book.ts';
import { ScriptedSynthesizer } from '../support/speech/scripted-synthesizer.ts';

const options = { voices: await loadVoiceBook(), clock: systemClock, logger: silentLogger };

/** An engine of which only its name and whether it is installed matter. */
function engine(name: string, isUsable: boolean, opened: string[] = []): SynthesizerEngine {
  return {
    name,
    isUniversal: true,
    probe: async () =>
      isUsable
        ? { isUsable, version: '1.0' }
        : { isUsable, reason: `no ${name} here`, remedy: `install ${name}` },
    open: ({ passedOver }) => {
      opened.push(name, ...passedOver);
      return new ScriptedSynthesizer();
    },
  };
}

test('chooseSynthesizer takes the first engine that can be used, and tells it what was passed over', async () => {
  const opened: string[] = [];
  const engines = [engine('kokoro', false), engine('espeak', true, opened), engine('wasm', true)];

  await chooseSynthesizer({ tts: 'auto', engines, logger: silentLogger });

  expect(opened).toEqual(['espeak', 'no kokoro here']);
});

test('chooseSynthesizer takes the engine asked for, even where a better one is installed', async () => {
  const opened: string[] = [];
  const engines = [engine('espeak', true), engine('wasm', true, opened)];

  await chooseSynthesizer({ tts: 'wasm', engines, logger: silentLogger });

  expect(opened).toEqual(['wasm']);
});

test.each([
  ['auto', 'Cannot speak with "auto": no a here; no b here; install a, or install b'],
  ['a', 'Cannot speak with "a": no a here; install a'],
  ['c', 'Cannot speak with "c": unknown engine; set TTS to one of auto, a, b'],
])('chooseSynthesizer names the remedy when "%s" cannot be had', async (tts, message) => {
  const engines = [engine('a', false), engine('b', false)];

  await expect(chooseSynthesizer({ tts, engines, logger: silentLogger })).rejects.toThrow(message);
});

test('espeakEngines falls back to the WASM build where the program is missing', async () => {
  const engines = espeakEngines({ ...options, program: 'no-such-espeak' });

  const synthesizer = await chooseSynthesizer({ tts: 'auto', engines, logger: silentLogger });

  expect(synthesizer.report()).toMatchObject({
    job: 'tts',
    engine: 'eSpeak NG as WASM',
    isFallback: true,
    reason: expect.stringContaining(
      'no program "no-such-espeak" on PATH; the voice that is always',
    ),
  });
});

test('espeakEngines names both remedies where neither build is there', async () => {
  const engines = espeakEngines({
    ...options,
    program: 'no-such-espeak',
    moduleName: 'no-such-module',
  });

  const choice = chooseSynthesizer({ tts: 'auto', engines, logger: silentLogger });

  await expect(choice).rejects.toThrow(
    'no program "no-such-espeak" on PATH; no npm package "no-such-module"; install the package espeak-ng',
  );
});

test('espeakEngines does not take another program for espeak-ng', async () => {
  const engines = espeakEngines({ ...options, program: 'false' });

  const choice = chooseSynthesizer({ tts: 'espeak', engines, logger: silentLogger });

  await expect(choice).rejects.toThrow('the program "false" does not run');
});

/** The voice that needs npm alone: espeak-ng's WASM build in a child process. */
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/lib/logger.ts';
import { espeakEngines } from '../../../src/speech/tts/espeak/espeak-engines.ts';
import { chooseSynthesizer } from '../../../src/speech/tts/pool/choose-synthesizer.ts';
import { loadVoiceBook } from '../../../src/speech/tts/voices/voice-book.ts';
import { childrenOf } from '../../support/server/processes.ts';
import { describeWith } from '../../support/server/programs.ts';
import { describeSynthesizer, hear, secondsOf } from './synthesizer-contract.ts';

async function open(tts: string) {
  const engines = espeakEngines({
    voices: await loadVoiceBook(),
    clock: systemClock,
    logger: silentLogger,
  });
  return chooseSynthesizer({ tts, engines });
}

describeSynthesizer('espeak-wasm', () => open('espeak-wasm'));

test('espeak-wasm is started again after its children were killed', async () => {
  const synthesizer = await open('espeak-wasm');
  await synthesizer.start();
  for (const { pid, commandLine } of childrenOf(process.pid)) {
    if (commandLine.includes('speaking-child.ts')) {
      process.kill(pid, 'SIGKILL');
    }
  }

  const { pcm } = await hear(synthesizer, { text: 'Hello.' });
  await synthesizer.stop();

  expect(secondsOf(pcm)).toBeGreaterThan(0.3);
});

describeWith(['espeak-ng'], 'espeak-wasm compared with the program', () => {
  test('takes as long over a sentence as the program, within a fifth', async () => {
    const [program, wasm] = await Promise.all([open('espeak'), open('espeak-wasm')]);
    await Promise.all([program.start(), wasm.start()]);

    const seconds = await Promise.all(
      [program, wasm].map(async (synthesizer) => secondsOf((await hear(synthesizer)).pcm)),
    );
    await Promise.all([program.stop(), wasm.stop()]);

    const [ofProgram = 0, ofWasm = 0] = seconds;
    expect(ofWasm / ofProgram).toBeGreaterThan(0.8);
    expect(ofWasm / ofProgram).toBeLessThan(1.2);
  });
});

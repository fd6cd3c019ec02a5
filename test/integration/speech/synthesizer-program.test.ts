/** The voice of the installed program: its processes begin, speak, and end as they should. */
import { spawnSync } from 'node:child_process';
import { expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/lib/logger.ts';
import { EspeakSynthesizer } from '../../../src/speech/tts/espeak/espeak-engines.ts';
import { loadVoiceBook } from '../../../src/speech/tts/voices/voice-book.ts';
import { childrenOf } from '../../support/server/processes.ts';
import { describeWith } from '../../support/server/programs.ts';
import { describeSynthesizer, hear } from './synthesizer-contract.ts';

const LONG_TEXT = 'I can book you in for Monday at nine. '.repeat(90);

async function open(): Promise<EspeakSynthesizer> {
  return new EspeakSynthesizer({
    engine: { kind: 'program', program: 'espeak-ng' },
    voices: await loadVoiceBook(),
    clock: systemClock,
    logger: silentLogger,
    report: { job: 'tts', engine: 'espeak-ng', reason: 'for tests', isFallback: true },
  });
}

/** The speaking children of this process, and the espeak-ng processes of theirs, zombies included. */
function processes() {
  const children = childrenOf(process.pid).filter(({ commandLine, state }) =>
    state === 'Z' ? true : commandLine.includes('speaking-child.ts'),
  );
  return { children, espeaks: children.flatMap(({ pid }) => childrenOf(pid)) };
}

async function withSynthesizer(use: (synthesizer: EspeakSynthesizer) => Promise<void>) {
  const synthesizer = await open();
  await synthesizer.start();
  try {
    await use(synthesizer);
  } finally {
    await synthesizer.stop();
  }
}

describeWith(['espeak-ng'], 'the espeak-ng program', () => {
  describeSynthesizer('espeak', open);

  test('has every voice that the voice book names', async () => {
    const { espeak } = await loadVoiceBook();
    const files = Object.values({ ...espeak.languages, ...espeak.locales });
    const variants = [...espeak.variants.female, ...espeak.variants.male].map(({ name }) => name);
    const names = [...new Set(files), ...variants.map((variant) => `gmw/en+${variant}`)];

    const missing = names.filter((name) => spawnSync('espeak-ng', ['-q', '-v', name, 'a']).status);

    expect(missing).toEqual([]);
  });

  test('is killed when its listener leaves early, and leaves no zombie', () =>
    withSynthesizer(async (synthesizer) => {
      const request = { text: LONG_TEXT, voice: 'en-US-JennyNeural', language: 'en-US' };
      for await (const _ of synthesizer.speak(request)) {
        break;
      }

      // One waits for the next sentence; the one that spoke is gone.
      await vi.waitFor(() => {
        expect(processes().espeaks).toHaveLength(1);
        expect(processes().espeaks.map(({ state }) => state)).not.toContain('Z');
      });
    }));

  test('is killed when the sentence is aborted', () =>
    withSynthesizer(async (synthesizer) => {
      const controller = new AbortController();
      const speaking = hear(synthesizer, { text: LONG_TEXT, signal: controller.signal });
      await vi.waitFor(() => expect(processes().espeaks.length).toBeGreaterThan(0));

      controller.abort(new Error('the caller spoke'));

      await expect(speaking).rejects.toThrow('the caller spoke');
      await vi.waitFor(() => expect(processes().espeaks.length).toBeLessThanOrEqual(1));
    }));

  test('waits warm for at most eight voices', () =>
    withSynthesizer(async (synthesizer) => {
      const languages = ['en', 'es', 'de', 'fr', 'it', 'pt', 'nl', 'pl', 'cs', 'sv', 'fi', 'tr'];
      for (const language of languages) {
        await hear(synthesizer, { text: 'One.', language });
      }

      await vi.waitFor(() => expect(processes().espeaks).toHaveLength(8));
    }));

  test('speaks at most 16 sentences at a time, and the others after them', () =>
    withSynthesizer(async (synthesizer) => {
      let most = 0;
      const speaking = Promise.all(
        Array.from({ length: 60 }, () => hear(synthesizer, { text: 'One, two, three.' })),
      );
      const watch = setInterval(() => {
        most = Math.max(most, processes().espeaks.length);
      }, 20);

      const heard = await speaking;
      clearInterval(watch);

      expect(heard.every(({ pcm }) => pcm.length === heard[0]?.pcm.length)).toBe(true);
      // The waiting one comes on top.
      expect(most).toBeLessThanOrEqual(17);
    }));

  test('is started again after its child was killed, and says what had not begun', () =>
    withSynthesizer(async (synthesizer) => {
      const [child] = processes().children;
      process.kill(child?.pid ?? 0, 'SIGKILL');

      const { pcm } = await hear(synthesizer, { text: 'Hello.' });

      expect(pcm.length).toBeGreaterThan(0);
      expect(processes().children.map(({ pid }) => pid)).not.toContain(child?.pid);
    }));

  test('tells the listener when its child is killed in the middle of a sentence', () =>
    withSynthesizer(async (synthesizer) => {
      const request = { text: LONG_TEXT, voice: 'en-US-JennyNeural', language: 'en-US' };
      const listen = async () => {
        for await (const _ of synthesizer.speak(request)) {
          for (const { pid } of processes().children) {
            process.kill(pid, 'SIGKILL');
          }
        }
      };

      await expect(listen()).rejects.toThrow(/Cannot speak with the voice ".*": its process ended/);
    }));

  test('leaves no process behind when it stops', async () => {
    const synthesizer = await open();
    await synthesizer.start();
    await hear(synthesizer);
    const { espeaks } = processes();

    await synthesizer.stop();
    await synthesizer.stop();

    expect(processes().children).toEqual([]);
    await vi.waitFor(() => {
      expect(espeaks.filter(({ pid }) => isRunning(pid))).toEqual([]);
    });
  });

  test('speaks again after a stop and a start', async () => {
    const synthesizer = await open();
    await synthesizer.start();
    await synthesizer.stop();
    await expect(hear(synthesizer)).rejects.toThrow('Cannot speak: the synthesizer is not started');

    await synthesizer.start();
    const { pcm } = await hear(synthesizer);
    await synthesizer.stop();

    expect(pcm.length).toBeGreaterThan(0);
  });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

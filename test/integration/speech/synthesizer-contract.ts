/** What every build of espeak-ng must do: one suite, run on the program and on the WASM build. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SpeechRequest, Synthesizer } from '../../../src/speech/tts/pool/synthesizer.ts';

const SENTENCE = 'I can book you in for Monday at nine, would that suit you?';

export interface Heard {
  readonly pcm: Int16Array;
  readonly chunks: number;
}

/** Speaks with an ordinary voice, and gathers what is heard. */
export async function hear(
  synthesizer: Synthesizer,
  request: Partial<SpeechRequest> = {},
): Promise<Heard> {
  const chunks: Int16Array[] = [];
  const whole = { text: SENTENCE, voice: 'en-US-JennyNeural', language: 'en-US', ...request };
  for await (const chunk of synthesizer.speak(whole)) {
    chunks.push(chunk);
  }
  return { pcm: Int16Array.from(chunks.flatMap((chunk) => [...chunk])), chunks: chunks.length };
}

export const secondsOf = (pcm: Int16Array) => pcm.length / 8000;

/** RMS of the 20 ms frames within 25 dB of the loudest one, in dB below full scale. */
export function activeLevelDbfs(pcm: Int16Array): number {
  const powers = Array.from({ length: Math.floor(pcm.length / 160) }, (_, n) => {
    const frame = pcm.subarray(n * 160, (n + 1) * 160);
    return frame.reduce((sum, sample) => sum + sample ** 2, 0) / 160;
  });
  const voiced = powers.filter((power) => power > Math.max(...powers) * 10 ** -2.5);
  const mean = voiced.reduce((sum, power) => sum + power, 0) / voiced.length;
  return 10 * Math.log10(mean / 32_768 ** 2);
}

const HOSTILE_TEXTS: readonly [string, string][] = [
  ['shell metacharacters', 'Hello $(touch pwned) `id` ; rm -rf / | cat > x && "quoted" \'quoted\''],
  ['options', '-f /etc/passwd --version'],
  ['100 kB', 'a long story '.repeat(8000)],
  ['one word of 100 kB', 'a'.repeat(100_000)],
  ['control characters', '\u0001\u0002Hello\u0000\u0007\u001b[31m you\u009f'],
  ['phonemes', "[[h@'loU]] hello [[ [[ ]]"],
  ['SSML', '<speak><audio src="file:///etc/passwd">hello</audio></speak>'],
  ['emoji', 'Great 😀👩‍🚀 day'],
  ['right-to-left', '\u202eשלום עולם\u202c hello'],
  ['lone surrogates', 'hello \ud83d you \udc00'],
  ['digits', '9'.repeat(500)],
];

export function describeSynthesizer(name: string, open: () => Promise<Synthesizer>): void {
  describe(name, () => {
    let synthesizer: Synthesizer;

    beforeAll(async () => {
      synthesizer = await open();
      await synthesizer.start();
    });

    afterAll(async () => {
      await synthesizer.stop();
      await synthesizer.stop();
    });

    test('speaks a sentence of plausible length, in several chunks', async () => {
      const { pcm, chunks } = await hear(synthesizer);

      expect(secondsOf(pcm)).toBeGreaterThan(2.5);
      expect(secondsOf(pcm)).toBeLessThan(4.5);
      expect(chunks).toBeGreaterThan(3);
    });

    test.each([
      'en-US-JennyNeural',
      'en-US-GuyNeural',
      'es-ES-ElviraNeural',
      'de-DE-ConradNeural',
    ])('speaks as "%s" at -18 dBFS, and clips nothing', async (voice) => {
      const { pcm } = await hear(synthesizer, { voice, language: '' });

      expect(Math.abs(activeLevelDbfs(pcm) + 18)).toBeLessThan(3);
      expect(pcm.filter((sample) => Math.abs(sample) >= 32_767).length).toBe(0);
    });

    test('begins with sound, not with silence', async () => {
      const { pcm } = await hear(synthesizer);

      expect(pcm.findIndex((sample) => Math.abs(sample) > 300)).toBeLessThan(0.05 * 8000);
    });

    test('gives voices that sound different to different names', async () => {
      const jenny = await hear(synthesizer, { voice: 'en-US-JennyNeural' });
      const guy = await hear(synthesizer, { voice: 'en-US-GuyNeural' });

      expect(jenny.pcm).not.toEqual(guy.pcm);
    });

    test('says the same in the same way', async () => {
      const first = await hear(synthesizer);
      const second = await hear(synthesizer);

      expect(second.pcm).toEqual(first.pcm);
    });

    test.each(HOSTILE_TEXTS)('speaks on after a text of %s', async (_, text) => {
      const hostile = await hear(synthesizer, { text });
      const { pcm } = await hear(synthesizer, { text: 'Hello.' });

      expect(hostile.pcm.length).toBeGreaterThan(0);
      expect(secondsOf(hostile.pcm)).toBeLessThan(601);
      expect(secondsOf(pcm)).toBeGreaterThan(0.3);
    });

    test.each([
      '',
      ' \n',
      '...',
      '🎉',
      '<break time="3s"/>',
    ])('says nothing for "%s"', async (text) => {
      const { pcm } = await hear(synthesizer, { text });

      expect(pcm).toHaveLength(0);
    });

    test('speaks in English where it does not know the language', async () => {
      const { pcm } = await hear(synthesizer, { voice: 'xx-XX-UnknownNeural', language: 'xx-XX' });

      expect(secondsOf(pcm)).toBeGreaterThan(2.5);
    });

    test('speaks many sentences at a time, each whole and none mixed up', async () => {
      const texts = ['One.', 'One, two.', 'One, two, three.', 'One, two, three, four.'];
      const alone: Int16Array[] = [];
      for (const text of texts) {
        alone.push((await hear(synthesizer, { text })).pcm);
      }

      const together = await Promise.all(
        [...texts, ...texts, ...texts].map((text) => hear(synthesizer, { text })),
      );

      expect(together.map(({ pcm }) => pcm)).toEqual([...alone, ...alone, ...alone]);
    });

    test('throws the reason of a signal that is aborted before, or while it speaks', async () => {
      const before = hear(synthesizer, { signal: AbortSignal.abort(new Error('too late')) });
      await expect(before).rejects.toThrow('too late');

      const controller = new AbortController();
      const during = hear(synthesizer, {
        text: `${SENTENCE} `.repeat(12),
        signal: controller.signal,
      });
      setImmediate(() => controller.abort(new Error('the caller spoke')));

      await expect(during).rejects.toThrow('the caller spoke');
    });

    test('speaks the next sentence after its listener left early', async () => {
      const request = { text: `${SENTENCE} `.repeat(12), voice: 'x', language: 'en' };
      for await (const chunk of synthesizer.speak(request)) {
        expect(chunk.length).toBeGreaterThan(0);
        break;
      }

      const { pcm } = await hear(synthesizer, { text: 'Hello.' });

      expect(secondsOf(pcm)).toBeGreaterThan(0.3);
    });
  });
}

/** What happens when espeak-ng does not do what it should. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/lib/logger.ts';
import { EspeakSynthesizer } from '../../../src/speech/tts/espeak/espeak-engines.ts';
import { SynthesisError } from '../../../src/speech/tts/pool/synthesizer.ts';
import { loadVoiceBook } from '../../../src/speech/tts/voices/voice-book.ts';
import { childrenOf } from '../../support/server/processes.ts';
import { hear } from './synthesizer-contract.ts';

const voices = await loadVoiceBook();
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'offhook-espeak-'));
});

afterAll(() => rm(folder, { recursive: true }));

/**
 * A stand-in for espeak-ng, in shell. It speaks the word of the start-up proof (18 ms of noise), and
 * then does `onText` with every other text, which is in `$text`.
 */
async function fakeProgram(name: string, onText: string): Promise<string> {
  const file = join(folder, name);
  const script = `#!/bin/sh
[ "$1" = --version ] && { echo "eSpeak NG text-to-speech: 1.51"; exit 0; }
header() { printf 'RIFFxxxxWAVEfmt xxxxxxxx\\042\\126\\000\\000xxxxxxxxdataxxxx'; }
click() { head -c 800 /dev/urandom; }
text=$(cat)
[ "$text" = Ready. ] && { header; click; exit 0; }
${onText}
`;
  await writeFile(file, script);
  await chmod(file, 0o755);
  return file;
}

function open(
  program: string,
  { sentenceTimeoutMs = 5000, answerTimeoutMs = 8000 } = {},
): EspeakSynthesizer {
  return new EspeakSynthesizer({
    engine: { kind: 'program', program, sentenceTimeoutMs },
    voices,
    clock: systemClock,
    logger: silentLogger,
    report: { job: 'tts', engine: 'espeak-ng', reason: 'for tests', isFallback: true },
    answerTimeoutMs,
  });
}

function speakingChildren(): number[] {
  return childrenOf(process.pid)
    .filter(({ commandLine }) => commandLine.includes('speaking-child.ts'))
    .map(({ pid }) => pid);
}

test.each([
  ['crashes', 'kill -SEGV $$', 'SIGSEGV'],
  ['complains and gives up', 'echo "no such voice" >&2; exit 1', 'no such voice'],
  ['gives up without a word', 'exit 3', '3'],
  ['writes something other than a WAV', 'head -c 100 /dev/zero', 'not a WAV stream'],
])('EspeakSynthesizer throws, and speaks on, when the program %s', async (name, onText, reason) => {
  const program = await fakeProgram(
    name.replaceAll(' ', '-'),
    `case $text in Good*) header; click; exit 0;; esac; ${onText}`,
  );
  const synthesizer = open(program);
  await synthesizer.start();

  const broken = hear(synthesizer, { text: 'Bad words.' });
  await expect(broken).rejects.toThrow(SynthesisError);
  await expect(broken).rejects.toThrow(reason);
  const { pcm } = await hear(synthesizer, { text: 'Good words.' });
  await synthesizer.stop();

  expect(pcm.length).toBeGreaterThan(0);
});

test('EspeakSynthesizer gives up on a program that hangs, and speaks on', async () => {
  const program = await fakeProgram(
    'hangs',
    'case $text in Good*) header; click; exit 0;; esac; exec sleep 60',
  );
  const synthesizer = open(program, { sentenceTimeoutMs: 1000 });
  await synthesizer.start();

  await expect(hear(synthesizer, { text: 'Bad words.' })).rejects.toThrow('no end after 1000 ms');
  const { pcm } = await hear(synthesizer, { text: 'Good words.' });
  await synthesizer.stop();

  expect(pcm.length).toBeGreaterThan(0);
});

test('EspeakSynthesizer kills a child that has stopped answering, and speaks on', async () => {
  const program = await fakeProgram('clicks', 'header; click');
  const synthesizer = open(program, { answerTimeoutMs: 1000 });
  await synthesizer.start();
  const [stuck] = speakingChildren();
  process.kill(stuck ?? 0, 'SIGSTOP');

  await expect(hear(synthesizer)).rejects.toThrow('no sound for 1000 ms');
  await vi.waitFor(() => expect(speakingChildren()).not.toContain(stuck));
  const { pcm } = await hear(synthesizer);
  await synthesizer.stop();

  expect(pcm.length).toBeGreaterThan(0);
});

test('EspeakSynthesizer does not start with a program that is missing', async () => {
  const synthesizer = open(join(folder, 'missing'));

  await expect(synthesizer.start()).rejects.toThrow(/Cannot start espeak-ng: .*ENOENT/);
});

test('EspeakSynthesizer does not start with a program that cannot speak a word', async () => {
  const mute = join(folder, 'mute');
  await writeFile(
    mute,
    '#!/bin/sh\necho "eSpeak NG text-to-speech: 1.51"\n[ "$1" = --version ] && exit 0\ncat >/dev/null\n',
  );
  await chmod(mute, 0o755);
  const synthesizer = open(mute);

  await expect(synthesizer.start()).rejects.toThrow('Cannot start espeak-ng: ');
});

test('EspeakSynthesizer never hands a text to a shell or to the command line', async () => {
  const program = await fakeProgram('tells-words', 'echo "words: $*" >&2; exit 1');
  const synthesizer = open(program);
  await synthesizer.start();

  const refusal = hear(synthesizer, { text: '--path=/secret $(id)', voice: '; id' });

  await expect(refusal).rejects.toThrow(/words: -v gmw\/en-US\+\w+ -s 165 -b 1 --stdout --stdin/);
  await expect(refusal).rejects.not.toThrow('secret');
  await synthesizer.stop();
});

test('EspeakSynthesizer refuses a sentence when 500 are waiting', async () => {
  const program = await fakeProgram('sleeps', 'exec sleep 60');
  const synthesizer = open(program, { answerTimeoutMs: 60_000 });
  await synthesizer.start();
  const waiting = Array.from({ length: 500 }, () => hear(synthesizer).catch((error) => error));

  await expect(hear(synthesizer)).rejects.toThrow('500 sentences are waiting to be spoken');
  await synthesizer.stop();

  const errors = await Promise.all(waiting);
  expect(errors.every((error) => error instanceof SynthesisError)).toBe(true);
});

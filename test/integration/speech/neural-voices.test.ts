/** Kokoro and Piper in their children, on models that make noise: shape, order, cancel, death and damage. */
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/lib/logger.ts';
import { espeakEngines } from '../../../src/speech/tts/espeak/espeak-engines.ts';
import { kokoroEngine } from '../../../src/speech/tts/kokoro/kokoro-engine.ts';
import { piperEngine } from '../../../src/speech/tts/piper/piper-engine.ts';
import { chooseSynthesizer } from '../../../src/speech/tts/pool/choose-synthesizer.ts';
import type { Synthesizer, WordEnds } from '../../../src/speech/tts/pool/synthesizer.ts';
import { loadVoiceBook } from '../../../src/speech/tts/voices/voice-book.ts';
import { childrenOf } from '../../support/server/processes.ts';
import { describeWith } from '../../support/server/programs.ts';
import {
  tinyKokoroGraph,
  tinyPiperGraph,
  writeKokoro,
  writePiperVoice,
} from '../../support/speech/voice-graphs.ts';
import { activeLevelDbfs, hear, secondsOf } from './synthesizer-contract.ts';

const book = await loadVoiceBook();
const phonemizerModule = new URL(
  '../../../src/speech/tts/espeak/espeak-phonemizer.ts',
  import.meta.url,
).href;
const open: Synthesizer[] = [];
const folders: string[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((synthesizer) => synthesizer.stop()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function modelsFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'voices-'));
  folders.push(folder);
  return folder;
}

/** Chooses among all engines, as the server does. */
async function choose(
  modelsDir: string,
  {
    tts = 'auto',
    program = 'espeak-ng',
  }: { readonly tts?: string; readonly program?: string } = {},
): Promise<Synthesizer> {
  const base = { book, clock: systemClock, logger: silentLogger };
  const phonemizer = { program, moduleName: 'espeak-ng' };
  const neural = { ...base, modelsDir, phonemizerModule, phonemizer, childCount: 1 };
  const engines = [
    kokoroEngine(neural),
    piperEngine(neural),
    ...espeakEngines({ ...base, voices: book }),
  ];
  const synthesizer = await chooseSynthesizer({ tts, engines });
  open.push(synthesizer);
  return synthesizer;
}

async function start(modelsDir: string, options?: Parameters<typeof choose>[1]) {
  const synthesizer = await choose(modelsDir, options);
  await synthesizer.start();
  return synthesizer;
}

const voiceChildren = () =>
  childrenOf(process.pid).filter(({ commandLine }) => commandLine.includes('voice-child.ts'));

const GERMAN = { voice: 'de-DE-KatjaNeural', language: 'de-DE', text: 'Guten Tag, wie geht es?' };

describeWith(['espeak-ng'], 'neural voices', () => {
  test('Piper speaks at the loudness of all voices, and tells when its words end', async () => {
    const folder = modelsFolder();
    writePiperVoice(folder, 'en_US-amy-medium', { graph: tinyPiperGraph({ hasDurations: true }) });
    const synthesizer = await start(folder);
    const told: WordEnds[] = [];

    const { pcm, chunks } = await hear(synthesizer, {
      text: 'One two three. Four five.',
      onWords: (ends) => told.push(ends),
    });

    expect(synthesizer.report()).toMatchObject({ engine: 'piper', isFallback: false });
    expect(activeLevelDbfs(pcm)).toBeGreaterThan(-19);
    expect(activeLevelDbfs(pcm)).toBeLessThan(-17);
    expect(chunks).toBeGreaterThan(3);
    // Once for each sentence, five words each time; the first time it is not known how long the second will be.
    expect(told.map((ends) => ends.length)).toEqual([5, 5]);
    expect([...(told[1] ?? [])].sort((a, b) => a - b)).toEqual(told[1]);
    expect(told[1]?.at(-1)).toBeGreaterThan(0.85);
  });

  test('Piper speaks longer for more text, without durations too', async () => {
    const folder = modelsFolder();
    writePiperVoice(folder, 'en_US-amy-medium');
    const synthesizer = await start(folder);

    const short = await hear(synthesizer, { text: 'Yes.' });
    const long = await hear(synthesizer, { text: 'Yes, that is what I should like to have.' });

    expect(secondsOf(long.pcm)).toBeGreaterThan(3 * secondsOf(short.pcm));
  });

  test('Kokoro goes before Piper, and each voice goes to an engine that has its language', async () => {
    const folder = modelsFolder();
    writeKokoro(folder, ['af_heart', 'am_michael']);
    writePiperVoice(folder, 'de_DE-kerstin-low', { config: { espeak: { voice: 'de' } } });
    const synthesizer = await start(folder);
    const engineOf = (voice: string, language: string) =>
      synthesizer.reportFor?.({ voice, language }).engine;

    expect(engineOf('en-US-JennyNeural', 'en-US')).toBe('kokoro');
    expect(engineOf('de-DE-KatjaNeural', 'de-DE')).toBe('piper');
    expect(engineOf('en-US-JennyNeural', 'de-DE')).toBe('piper');
    expect(engineOf('it-IT-ElsaNeural', 'it-IT')).toContain('eSpeak');
    for (const request of [
      {},
      GERMAN,
      { ...GERMAN, language: 'it-IT', voice: 'it-IT-ElsaNeural' },
    ]) {
      expect(secondsOf((await hear(synthesizer, request)).pcm)).toBeGreaterThan(0.5);
    }
  });

  test('An aborted sentence is not spoken, and the next one is', async () => {
    const folder = modelsFolder();
    writeKokoro(folder, ['af_heart'], { graph: tinyKokoroGraph({ hasDurations: true }) });
    const synthesizer = await start(folder);
    const abort = new AbortController();
    const long = hear(synthesizer, {
      text: 'One two three four. '.repeat(100),
      signal: abort.signal,
    });

    const isOver = expect(long).rejects.toThrow('the caller spoke');
    abort.abort(new Error('the caller spoke'));
    const next = await hear(synthesizer, { text: 'Yes.' });

    await isOver;
    expect(secondsOf(next.pcm)).toBeGreaterThan(0.1);
  });

  test('One sentence does not wait for the whole of a long text of another call', async () => {
    const folder = modelsFolder();
    writeKokoro(folder, ['af_heart']);
    const synthesizer = await start(folder);
    let isLongOver = false;
    const long = hear(synthesizer, { text: 'One two three four. '.repeat(100) }).finally(() => {
      isLongOver = true;
    });

    await hear(synthesizer, { text: 'Yes.' });

    expect(isLongOver).toBe(false);
    expect(secondsOf((await long).pcm)).toBeGreaterThan(10);
  });

  test('A child that is killed is replaced, and what it had not begun is spoken by the next one', async () => {
    const folder = modelsFolder();
    writePiperVoice(folder, 'en_US-amy-medium');
    const synthesizer = await start(folder);
    const [child] = voiceChildren();

    process.kill(child?.pid ?? 0, 'SIGKILL');
    const { pcm } = await hear(synthesizer, { text: 'Yes.' });

    expect(secondsOf(pcm)).toBeGreaterThan(0.1);
    expect(voiceChildren().map(({ pid }) => pid)).not.toContain(child?.pid);
    await synthesizer.stop();
    await vi.waitFor(() => expect(voiceChildren()).toEqual([]));
  });

  test.each([
    ['damaged', (path: string) => truncateSync(path, 500), 'the file is damaged'],
    ['no graph at all', (path: string) => writeFileSync(path, 'hello'), 'the file is damaged'],
    ['without a configuration', (path: string) => writeFileSync(`${path}.json`, '{'), 'the whole'],
    [
      'of letters',
      (path: string) =>
        writeFileSync(`${path}.json`, '{"audio":{"sample_rate":16000},"phoneme_type":"text"}'),
      'phoneme_type',
    ],
  ])('A voice that is %s is named at start, and espeak-ng speaks', async (_case, spoil, reason) => {
    const folder = modelsFolder();
    const path = writePiperVoice(folder, 'en_US-amy-medium');
    spoil(path);

    const synthesizer = await start(folder);

    expect(synthesizer.report()).toMatchObject({ isFallback: true });
    expect(synthesizer.report().engine).toContain('eSpeak');
    expect(synthesizer.report().reason).toContain(path);
    expect(synthesizer.report().reason).toContain(reason);
    expect(synthesizer.report().reason).toContain('put a whole copy there, or remove it');
    expect(secondsOf((await hear(synthesizer)).pcm)).toBeGreaterThan(1);
  });

  test('A graph of another shape is named at start, and the other voices speak', async () => {
    const folder = modelsFolder();
    const wrong = writePiperVoice(folder, 'en_US-amy-medium', { graph: tinyKokoroGraph() });
    writePiperVoice(folder, 'en_US-ryan-medium');

    const synthesizer = await start(folder);

    expect(synthesizer.report()).toMatchObject({ engine: 'piper', isFallback: true });
    expect(synthesizer.report().reason).toContain(`"${wrong}": it has no input "input"`);
    expect(secondsOf((await hear(synthesizer)).pcm)).toBeGreaterThan(1);
  });

  test('An engine that was asked for by name stands or falls with its models', async () => {
    const folder = modelsFolder();

    await expect(choose(folder, { tts: 'kokoro' })).rejects.toThrow(
      /no kokoro voice in .*put Kokoro-82M/,
    );
    writeFileSync(join(writeKokoro(folder, ['af_heart']), 'onnx', 'model.onnx'), 'hello');
    const synthesizer = await choose(folder, { tts: 'kokoro' });

    await expect(synthesizer.start()).rejects.toThrow('Cannot load the Kokoro model');
    expect(voiceChildren()).toEqual([]);
  });

  test('Phonemes come from the WASM build where the program is missing', async () => {
    const folder = modelsFolder();
    writeKokoro(folder, ['af_heart']);
    const withProgram = await start(folder, { tts: 'kokoro' });
    const withWasm = await start(folder, { tts: 'kokoro', program: 'no-such-espeak' });

    const [one, other] = [await hear(withProgram), await hear(withWasm)];

    expect(secondsOf(other.pcm)).toBeCloseTo(secondsOf(one.pcm), 1);
  });
});

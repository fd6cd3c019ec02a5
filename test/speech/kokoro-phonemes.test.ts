/** Kokoro's symbols against what hexgrad/misaki and kokoro-js publish, and its voices as npm has them. */
import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { phonemeArguments } from '../../src/speech/tts/espeak/espeak-voice.ts';
import { EspeakInstance, loadModule } from '../../src/speech/tts/espeak/wasm-instance.ts';
import { findKokoroVoices } from '../../src/speech/tts/kokoro/kokoro-engine.ts';
import { kokoroPhonemes, openVoiceModel } from '../../src/speech/tts/kokoro/kokoro-model.ts';
import { writeKokoro } from '../support/speech/voice-graphs.ts';

const MANIFEST = new URL('../../models/manifest.json', import.meta.url);

const NPM_VOICES = join(createRequire(import.meta.url).resolve('kokoro-js'), '..', '..', 'voices');

const espeak = await loadModule('espeak-ng');
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

async function espeakPhonemes(text: string, voice: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  const program = await EspeakInstance.make(espeak);
  program.write(phonemeArguments(voice), { text, voice }, (bytes) => pieces.push(bytes.slice()));
  return Buffer.concat(pieces).toString('utf8').trim().replace(/\s+/g, ' ');
}

describe('kokoroPhonemes', () => {
  // misaki 0.9.4, espeak.py, EspeakG2P.E2M.
  test.each([
    ['a^ɪ', 'I'],
    ['a^ʊ', 'W'],
    ['d^z', 'ʣ'],
    ['d^ʒ', 'ʤ'],
    ['e^ɪ', 'A'],
    ['o^ʊ', 'O'],
    ['ə^ʊ', 'Q'],
    ['s^s', 'S'],
    ['t^s', 'ʦ'],
    ['t^ʃ', 'ʧ'],
    ['ɔ^ɪ', 'Y'],
    ['ɐ̃^ʊ̃', 'ɐ̃ʊ̃'],
    ['lə-', 'lə'],
    ['kaɪ', 'kaɪ'],
    ['rˈoxo', 'rˈoxo'],
  ])('writes %s as misaki does for es, fr, hi, it and pt: %s', (tied, symbol) => {
    for (const voice of ['ef_dora', 'ff_siwis', 'hf_alpha', 'if_sara', 'pf_dora']) {
      expect(kokoroPhonemes(tied, voice)).toBe(symbol);
    }
  });

  // kokoro-js 1.2.1, phonemize.js and its tests.
  test.each([
    ['kəkˈoːɹo^ʊ', 'kˈoʊkəɹoʊ', 'kˈoʊkəɹoʊ'],
    ['kəkˈɔːɹə^ʊ', 'kˈəʊkəɹəʊ', 'kˈəʊkəɹəʊ'],
    ['nˈa^ɪntiːn nˈa^ɪnti', 'nˈaɪntiːn nˈaɪndi', 'nˈaɪntiːn nˈaɪnti'],
    ['wˈʌnhˈʌndɹɪd', 'wˈʌn hˈʌndɹɪd', 'wˈʌn hˈʌndɹɪd'],
    ['rˈoʊz lˈɒx ɬan nʲet', 'ɹˈoʊz lˈɒk lan njet', 'ɹˈoʊz lˈɒk lan njet'],
    ['ˈɛks z mˈɑːɹk', 'ˈɛksz mˈɑːɹk', 'ˈɛksz mˈɑːɹk'],
    ['d^ʒˈæpəniːz t^ʃˈa^ɪniːz', 'dʒˈæpəniːz tʃˈaɪniːz', 'dʒˈæpəniːz tʃˈaɪniːz'],
  ])('writes English %s as kokoro-js does', (tied, american, british) => {
    expect(kokoroPhonemes(tied, 'af_heart')).toBe(american);
    expect(kokoroPhonemes(tied, 'bf_emma')).toBe(british);
  });

  test.each([
    [
      'ef_dora',
      'roa/es',
      'Hay mucho peine, la causa es leche.',
      'ˈI mˈuʧo pˈAne la kˈWsa ˈes lˈeʧe',
    ],
    ['ff_siwis', 'roa/fr', 'Les amis, un budget.', 'lez amˈi œ̃ byʤˈɛ'],
    ['hf_alpha', 'inc/hi', 'जल्दी चाय लाओ', 'ɟˈʌldi cˈaːj lˈaːoː'],
    [
      'if_sara',
      'roa/it',
      'Ciao, grazie, zucchero, pizza, oggi.',
      'ʧˈao ɡrˈaʦje ʣˈukːeɾo pˈiʦːa ˈɔʤːɪ',
    ],
    ['pf_dora', 'roa/pt-BR', 'Bom dia, leite, não.', 'bˈoŋ ʤˈiæ lˈAʧy nˈɐ̃ʊ̃'],
    ['af_heart', 'gmw/en-US', 'Kokoro, ninety boys.', 'kˈoʊkəɹoʊ nˈaɪndi bˈɔɪz'],
  ])('%s reads what espeak-ng writes in %s', async (voice, reads, text, symbols) => {
    expect(kokoroPhonemes(await espeakPhonemes(text, reads), voice)).toBe(symbols);
  });
});

describe('Kokoro’s voices in the npm package kokoro-js', () => {
  const { models } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as {
    models: readonly { id: string; files: readonly { path: string; sha256: string }[] }[];
  };
  const listed = models
    .filter(({ id }) => id === 'kokoro-82m')
    .flatMap(({ files }) => files.filter(({ path }) => path.endsWith('.bin')));

  test('are byte for byte those of our manifest', () => {
    const found = listed.map(({ path }) => {
      const bytes = readFileSync(join(NPM_VOICES, basename(path)));
      return { path, sha256: createHash('sha256').update(bytes).digest('hex') };
    });

    expect(listed.length).toBe(20);
    expect(found).toEqual(listed.map(({ path, sha256 }) => ({ path, sha256 })));
  });

  test('speak in the model: a row of style for each length of text', async () => {
    const modelsDir = mkdtempSync(join(tmpdir(), 'offhook-kokoro-'));
    folders.push(modelsDir);
    const folder = writeKokoro(modelsDir, []);
    for (const { path } of listed) {
      copyFileSync(join(NPM_VOICES, basename(path)), join(folder, path));
    }
    const voices = findKokoroVoices(modelsDir);
    const model = await openVoiceModel(folder, 1);

    const lengths = [];
    for (const { speaker } of voices) {
      const phonemes = model.spell('ˈola kˈe tˈal', speaker);
      const [short, long] = [phonemes, `${phonemes} `.repeat(30)].map((text) =>
        model.say({ phonemes: text, voice: speaker }),
      );
      lengths.push([(await short)?.samples.length, (await long)?.samples.length]);
    }
    await model.close();

    expect(new Set(voices.map(({ locale }) => locale))).toEqual(
      new Set(['en-US', 'en-GB', 'es-ES', 'fr-FR', 'hi-IN', 'it-IT', 'pt-BR']),
    );
    expect(lengths.every(([short = 0, long = 0]) => short > 0 && long > 20 * short)).toBe(true);
  });
});

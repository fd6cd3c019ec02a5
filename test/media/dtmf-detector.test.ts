import { expect, test } from 'vitest';
import { decodeG711, encodeG711, type G711Law } from '../../src/media/dsp/g711.ts';
import {
  COLUMNS_HZ,
  DtmfDetector,
  KEYS,
  keyTone,
  ROWS_HZ,
  toneOf,
} from '../../src/media/dsp/in-band-dtmf.ts';
import { LossConcealment } from '../../src/media/dsp/loss-concealment.ts';
import { readPhrase, SPOKEN_PHRASES } from '../speech/spoken-phrases.ts';
import { seededChance } from '../support/sip/sip-mutants.ts';
import { lostPackets } from '../support/speech/loss/lossy-line.ts';
import { NON_SPEECH, nonSpeech } from '../support/speech/non-speech.ts';

const SAMPLES_PER_MS = 8;

interface Dialling {
  readonly rowDbm0?: number;
  readonly columnDbm0?: number;
  /** Deviation from the nominal frequencies. */
  readonly offPercent?: number;
  /** White noise so much below the tones; none unless given. */
  readonly noiseBelowDb?: number;
  readonly toneMs?: number;
  readonly pauseMs?: number;
}

const REPEATED = 10;

/** All keys, ten times, with pauses of uneven length, through G.711. */
function dial(law: G711Law, dialling: Dialling): Int16Array {
  const { rowDbm0 = -10, columnDbm0 = -10, offPercent = 0, noiseBelowDb } = dialling;
  const { toneMs = 45, pauseMs = 45 } = dialling;
  const chance = seededChance(1);
  const power = (toneOf(2000, rowDbm0)(1) ** 2 + toneOf(2000, columnDbm0)(1) ** 2) / 2;
  const noiseRms = noiseBelowDb === undefined ? 0 : Math.sqrt(power / 10 ** (noiseBelowDb / 10));
  const noise = () =>
    noiseRms * Math.sqrt(-2 * Math.log(1 - chance())) * Math.cos(2 * Math.PI * chance());
  const samples: number[] = [];
  for (const key of KEYS.repeat(REPEATED)) {
    const pauseSamples = pauseMs * SAMPLES_PER_MS + Math.floor(40 * chance());
    for (let at = 0; at < pauseSamples; at += 1) samples.push(noise());
    const index = KEYS.indexOf(key);
    const factor = 1 + offPercent / 100;
    const row = toneOf((ROWS_HZ[index >> 2] ?? 0) * factor, rowDbm0);
    const column = toneOf((COLUMNS_HZ[index & 3] ?? 0) * factor, columnDbm0);
    for (let at = 0; at < toneMs * SAMPLES_PER_MS; at += 1) {
      samples.push(row(at) + column(at) + noise());
    }
  }
  const pcm = Int16Array.from([...samples, ...new Array(400).fill(0)], clip);
  return decodeG711(law, encodeG711(law, pcm));
}

function clip(sample: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(sample)));
}

interface Heard {
  readonly digits: string;
  /** Share of the 20 ms frames that a recogniser would not hear. */
  readonly toneShare: number;
}

function hear(pcm: Int16Array): Heard {
  const detector = new DtmfDetector();
  let digits = '';
  let frames = 0;
  let tones = 0;
  for (let at = 0; at < pcm.length; at += 160) {
    for (const { digit } of detector.hear(pcm.subarray(at, at + 160))) digits += digit;
    frames += 1;
    if (detector.isTone) tones += 1;
  }
  return { digits, toneShare: tones / frames };
}

test.each<[string, Dialling]>([
  ['-3 dBm0', { rowDbm0: -3, columnDbm0: -3 }],
  ['-30 dBm0', { rowDbm0: -30, columnDbm0: -30 }],
  ['the lower tone 8 dB louder', { rowDbm0: -10, columnDbm0: -18 }],
  ['the upper tone 4 dB louder', { rowDbm0: -14, columnDbm0: -10 }],
  ['white noise 10 dB below', { noiseBelowDb: 10 }],
  ['white noise 5 dB below', { noiseBelowDb: 5 }],
  ['tones 1.5 % too high', { offPercent: 1.5 }],
  ['tones 1.5 % too low', { offPercent: -1.5 }],
  ['tones and pauses of 40 ms', { toneMs: 40, pauseMs: 40 }],
  ['long tones', { toneMs: 700 }],
])('DtmfDetector hears each of the 16 keys once: %s', (_name, dialling) => {
  const [muLaw, aLaw] = [hear(dial('PCMU', dialling)), hear(dial('PCMA', dialling))];

  expect(muLaw.digits).toBe(KEYS.repeat(REPEATED));
  expect(aLaw.digits).toBe(KEYS.repeat(REPEATED));
});

test.each<[string, Dialling]>([
  ['the lower tone 12 dB louder', { rowDbm0: -10, columnDbm0: -22 }],
  ['the upper tone 7 dB louder', { rowDbm0: -17, columnDbm0: -10 }],
  ['tones 3.5 % too high', { offPercent: 3.5 }],
  ['tones of 20 ms', { toneMs: 20 }],
  ['-40 dBm0', { rowDbm0: -40, columnDbm0: -40 }],
])('DtmfDetector hears no key: %s', (_name, dialling) => {
  expect(hear(dial('PCMU', dialling)).digits).toBe('');
});

test('DtmfDetector takes no speech for a key, whether quiet, usual or overdriven', () => {
  const heard = SPOKEN_PHRASES.flatMap(({ file }) =>
    [0.3, 1, 3].map((gain) => hear(readPhrase(file).map((sample) => clip(gain * sample)))),
  );

  const toneShare = heard.reduce((sum, one) => sum + one.toneShare, 0) / heard.length;
  expect(heard.map(({ digits }) => digits).join('')).toBe('');
  expect(toneShare).toBeLessThan(0.005);
});

test('DtmfDetector hears a key in no other sound', () => {
  const others = Object.keys(NON_SPEECH).filter((name) => !isOfKeys(name));

  const taken = others.filter((name) => hear(nonSpeech(name, 5)).digits !== '');

  expect(others.length).toBeGreaterThan(50);
  expect(taken).toEqual([]);
});

function isOfKeys(name: string): boolean {
  return name.startsWith('DTMF') || name === 'a number dialled fast';
}

test('DtmfDetector tells a key with its length when it is let go', () => {
  const detector = new DtmfDetector();
  const pause = new Int16Array(800);

  const atPress = detector.hear(keyTone('7', 1600));
  const isToneMeanwhile = detector.isTone;
  const atRelease = detector.hear(pause);

  expect([atPress, isToneMeanwhile]).toEqual([[], true]);
  expect(atRelease).toEqual([{ digit: '7', durationMs: expect.any(Number) }]);
  expect(Math.abs((atRelease[0]?.durationMs ?? 0) - 200)).toBeLessThan(15);
});

test.each([
  { toneMs: 200, pauseMs: 100, lossPercent: 3 },
  { toneMs: 200, pauseMs: 100, lossPercent: 10 },
  { toneMs: 100, pauseMs: 100, lossPercent: 3 },
])('DtmfDetector hears 2,000 keys of $toneMs ms once each over a line that loses $lossPercent % of the packets', (line) => {
  const press = (key: string) => [
    ...keyTone(key, line.toneMs * SAMPLES_PER_MS),
    ...new Int16Array(line.pauseMs * SAMPLES_PER_MS),
  ];
  const keys = KEYS.repeat(125);
  const sent = Int16Array.from([...keys].flatMap(press));
  const lost = lostPackets(sent.length / 160, { lossPercent: line.lossPercent, burst: 1, seed: 3 });
  const detector = new DtmfDetector();
  const concealment = new LossConcealment();

  const digits = lost.flatMap((isLost, packet) => {
    const frame = sent.slice(packet * 160, (packet + 1) * 160);
    if (isLost) return detector.lose(concealment.conceal(frame.length).length);
    concealment.hear(frame);
    return detector.hear(frame);
  });

  expect(digits.map(({ digit }) => digit).join('')).toBe(keys);
});

test('DtmfDetector bears an interruption of 10 ms, and tells two keys without a pause apart', () => {
  const interrupted = keyTone('5', 1600);
  interrupted.fill(0, 800, 880);

  const digits = hear(
    Int16Array.from([...interrupted, ...keyTone('6', 800), ...new Int16Array(800)]),
  ).digits;

  expect(digits).toBe('56');
});

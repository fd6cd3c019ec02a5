/** Real speech resampled to the line's rate: our result compared with sox. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { Resampler } from '../../../src/speech/stt/features/resampler.ts';
import { describeWith } from '../../support/server/programs.ts';

const HEADER_BYTES = 44;

function samplesOf(bytes: Buffer): Int16Array {
  return new Int16Array(new Uint8Array(bytes).slice(0, bytes.length & ~1).buffer);
}

/** Power of what is below and above 3.3 kHz, by sox. */
function powerDb(pcm: Int16Array, filter: string): number {
  const raw = ['-t', 'raw', '-r', '8000', '-e', 'signed', '-b', '16', '-c', '1', '-'];
  const filtered = samplesOf(
    execFileSync('sox', ['-D', ...raw, ...raw, 'sinc', filter], { input: Buffer.from(pcm.buffer) }),
  );
  const power = filtered.reduce((sum, sample) => sum + sample ** 2, 0) / filtered.length;
  return 10 * Math.log10(power);
}

describeWith(['espeak-ng', 'sox'], 'Resampler on speech', () => {
  test.each(['en-us+f3', 'en-us+m3', 'es'])('gives what sox gives, for the voice %s', (voice) => {
    const text = 'She sells sea shells, sixty-six of them, and thinks it is best.';
    const wav = execFileSync('espeak-ng', ['-v', voice, '--stdout', text]);
    const resampler = new Resampler(wav.readUInt32LE(24));

    const speech = samplesOf(wav.subarray(HEADER_BYTES));
    const ours = Int16Array.from([...resampler.push(speech), ...resampler.flush()]);

    const raw = ['-t', 'raw', '-e', 'signed', '-b', '16', '-c', '1'];
    const words = ['-D', ...raw, '-r', '22050', '-', ...raw, '-r', '8000', '-'];
    const theirs = samplesOf(execFileSync('sox', words, { input: wav.subarray(HEADER_BYTES) }));
    const error = Int16Array.from(ours, (sample, n) => sample - (theirs[n] ?? 0));
    expect(Math.abs(ours.length - theirs.length)).toBeLessThan(10);
    expect(powerDb(error, '-3300') - powerDb(ours, '-3300')).toBeLessThan(-40);
    expect(powerDb(ours, '3900') - powerDb(ours, '-3300')).toBeLessThan(-30);
  });
});

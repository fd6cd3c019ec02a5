import { expect, test } from 'vitest';
import { bytesText, Progress, plainText, spanText } from '../../src/model-store/progress.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

function shown(isTerminal: boolean) {
  const clock = new FakeClock();
  const written: string[] = [];
  const screen = {
    isTerminal,
    columns: 60,
    write: (text: string) => written.push(text),
    paint: (_: string, text: string) => text,
  };
  return { clock, written, progress: new Progress({ screen, clock }) };
}

test('Progress writes a line every five seconds where lines cannot be written over', () => {
  const { clock, written, progress } = shown(false);
  progress.add('a.onnx', 1000, 200);
  progress.start();

  progress.update('a.onnx', 300);
  clock.advance(4999);
  expect(written).toEqual([]);
  clock.advance(1);
  progress.update('a.onnx', 800);
  clock.advance(5000);
  progress.stop();

  expect(written).toEqual([
    ' 30 %  300 bytes of 1.0 kB, 20 bytes/s, 35 s left  a.onnx\n',
    ' 80 %  800 bytes of 1.0 kB, 60 bytes/s, 3 s left  a.onnx\n',
  ]);
});

test('Progress draws a bar over itself on a terminal, never longer than a line, and wipes it away', () => {
  const { clock, written, progress } = shown(true);
  progress.add('a-file-with-a-rather-long-name.onnx', 1000, 0);
  progress.start();

  progress.update('a-file-with-a-rather-long-name.onnx', 500);
  clock.advance(200);
  progress.say('a line that stays');
  progress.stop();

  const [bar, wiped, line] = written;
  expect(bar).toContain('[############............]  50 %');
  expect(bar?.replace('\r\u001b[K', '').length).toBe(59);
  expect(wiped).toBe('\r\u001b[K');
  expect(line).toBe('a line that stays\n');
});

test('Progress says nothing while nothing is on its way, nor after it was stopped', () => {
  const { clock, written, progress } = shown(false);
  progress.add('a.onnx', 1000, 0);
  progress.start();

  clock.advance(20_000);
  progress.update('a.onnx', 1);
  progress.stop();
  progress.stop();
  clock.advance(20_000);

  expect(written).toEqual([]);
});

test('Progress updates the total when an unknown length becomes known', () => {
  const { clock, written, progress } = shown(false);
  progress.add('a.onnx', null, 0);
  progress.start();

  progress.update('a.onnx', 5000);
  clock.advance(5000);
  progress.stop();

  expect(written[0]).toContain('5.0 kB of 5.0 kB');
});

test.each([
  [0, '0 bytes'],
  [999, '999 bytes'],
  [1000, '1.0 kB'],
  [999_949, '999.9 kB'],
  [999_951, '1.0 MB'],
  [1_087_527_940, '1.1 GB'],
  [2e15, '2000.0 TB'],
])('bytesText shows %d as %s', (bytes, text) => {
  expect(bytesText(bytes)).toBe(text);
});

test.each([
  [0, '0 s'],
  [59_400, '59 s'],
  [200_000, '3 min 20 s'],
  [7_500_000, '2 h 5 min'],
])('spanText shows %d ms as %s', (ms, text) => {
  expect(spanText(ms)).toBe(text);
});

test('plainText leaves nothing that moves a cursor', () => {
  expect(plainText('a\u001b[2Jb\r\nc')).toBe('a[2Jbc');
});

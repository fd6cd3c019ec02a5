/** Sound to one client: what is too much for it is left out, and its right to hear is asked for. */
import { expect, test } from 'vitest';
import { SoundStream } from '../../src/api/routes/listening-routes.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

const WAITING_BYTES = 64 * 1024;

function openStream(mayGoOn: () => boolean = () => true) {
  const clock = new FakeClock();
  const seen = { ends: 0, asked: 0 };
  const stream = new SoundStream({
    clock,
    mayGoOn: async () => {
      seen.asked += 1;
      return mayGoOn();
    },
    onEnded: () => {
      seen.ends += 1;
    },
  });
  return { clock, stream, seen };
}

const bytesOf = async (stream: SoundStream) =>
  (await new Response(stream.body).arrayBuffer()).byteLength;

test('SoundStream sends a piece that just fits, and leaves out the next byte', async () => {
  const { stream } = openStream();

  stream.send(new Uint8Array(WAITING_BYTES));
  stream.send(new Uint8Array(1));
  stream.end();

  expect(await bytesOf(stream)).toBe(WAITING_BYTES);
});

test('SoundStream asks whether it may go on once in each half second', () => {
  const { clock, stream, seen } = openStream();

  const asked = [499, 1, 1, 499].map((ms) => {
    clock.advance(ms);
    stream.send(new Uint8Array(1));
    return seen.asked;
  });

  expect(asked).toEqual([0, 1, 1, 2]);
});

test.each<[string, () => boolean]>([
  ['says no', () => false],
  [
    'cannot be asked',
    () => {
      throw new Error('no database');
    },
  ],
])('SoundStream ends when mayGoOn %s, after the piece that asked', async (_case, mayGoOn) => {
  const { clock, stream, seen } = openStream(mayGoOn);
  stream.send(new Uint8Array(3));
  await clock.pass(500);

  stream.send(new Uint8Array(5));
  await clock.pass(0);
  stream.send(new Uint8Array(7));
  stream.end();

  expect(await bytesOf(stream)).toBe(8);
  expect(seen.ends).toBe(1);
});

test('SoundStream is over once when its client goes away', async () => {
  const { stream, seen } = openStream();

  await stream.body.cancel();
  stream.end();
  stream.send(new Uint8Array(1));

  expect(seen.ends).toBe(1);
});

import { expect, test } from 'vitest';
import { Playout, type SpeechBlock, SpeechMemory } from '../../src/media/rtp-session/playout.ts';

/** Memory that knows how many of its blocks are out. */
class CountedMemory extends SpeechMemory {
  made = 0;
  out = 0;

  override claim(): SpeechBlock {
    this.out += 1;
    this.made = Math.max(this.made, this.out);
    return super.claim();
  }

  override release(block: SpeechBlock): void {
    this.out -= 1;
    super.release(block);
  }
}

test('SpeechMemory gives a block again that was given back', () => {
  const memory = new SpeechMemory();
  const block = memory.claim();
  memory.release(block);

  const next = memory.claim();

  expect(next).toBe(block);
});

test('SpeechMemory gives different blocks to those who hold them at one time', () => {
  const memory = new SpeechMemory();

  const [one, other] = [memory.claim(), memory.claim()];

  expect(one).not.toBe(other);
});

test.each([
  ['has been played', (playout: Playout) => playAll(playout)],
  ['is dropped', (playout: Playout) => playout.drop(1)],
  ['is cut off by the next', (playout: Playout) => playout.begin(2)],
  ['is cleared', (playout: Playout) => playout.clear()],
])('Playout gives all its blocks back when a reply %s', (_how, end) => {
  const memory = new CountedMemory();
  const playout = new Playout(memory);
  playout.begin(1);
  for (let part = 0; part < 20; part += 1) playout.say(1, new Int16Array(333));
  playout.takeInto(new Int16Array(160));
  playout.finish(1);

  end(playout);

  expect(memory.made).toBe(5);
  expect(memory.out).toBe(0);
});

test('Playout takes nothing more once it is cleared', () => {
  const playout = new Playout();
  playout.begin(1);

  playout.clear();
  playout.begin(2);
  playout.say(2, new Int16Array(320));

  expect(playout.hasAudio).toBe(false);
});

function playAll(playout: Playout): void {
  const frame = new Int16Array(160);
  while (playout.takeInto(frame));
  playout.endIfPlayed();
}

/** Two sessions and an agent: the mix of each party, its level and its delay. */
import { expect, test } from 'vitest';
import { Mixer, SoundQueue } from '../../src/media/rtp-session/mixer.ts';

const FRAME = 160;

/** 20 ms, or so many samples, of one level. */
const level = (value: number, samples = FRAME) => new Int16Array(samples).fill(value);

/** What a listener gets in the next 20 ms, where nothing else is to be heard. */
function taken(queue: SoundQueue): number[] {
  const pcm = level(0);
  queue.mixInto(pcm);
  return [...new Set(pcm)];
}

const openQueue = () => new SoundQueue({ lateMsMax: 60 });

/** Both sessions hear and say a frame, so many times over. @returns what was sent and heard last. */
function pass(
  [caller, colleague]: readonly [Mixer, Mixer],
  levels: { readonly caller?: number; readonly colleague?: number; readonly agent?: number },
  times = 10,
) {
  let last = { toCaller: 0, toColleague: 0, toAgent: 0 };
  for (let at = 0; at < times; at += 1) {
    const toAgent = caller.hear(level(levels.caller ?? 0))[0] ?? 0;
    colleague.hear(level(levels.colleague ?? 0));
    const toCaller = caller.say(level(levels.agent ?? 0))[0] ?? 0;
    const toColleague = colleague.say(level(0))[0] ?? 0;
    last = { toCaller, toColleague, toAgent };
  }
  return last;
}

test('Mixer gives each of three parties the sum of the other two, without their own voice', () => {
  const pair = Mixer.pair();

  const heard = pass(pair, { caller: 1_000, colleague: 200, agent: 30 });

  expect(heard).toEqual({ toCaller: 230, toColleague: 1_030, toAgent: 1_200 });
});

test.each([
  [20_000, 20_000, 32_767],
  [-20_000, -20_000, -32_768],
  [20_000, -20_000, 0],
])('Mixer adds %d and %d as %d: what is too loud is clipped', (colleague, agent, sum) => {
  const heard = pass(Mixer.pair(), { colleague, agent });

  expect(heard.toCaller).toBe(sum);
});

test('Mixer lets one who comes in the middle of a word, and one who falls silent, change nothing for the others', () => {
  const pair = Mixer.pair();

  const alone = pass(pair, { caller: 1_000 });
  const both = pass(pair, { caller: 1_000, colleague: 200 });
  const back = pass(pair, { caller: 1_000 });

  expect([alone, both, back].map(({ toColleague }) => toColleague)).toEqual([1_000, 1_000, 1_000]);
  expect([alone, both, back].map(({ toAgent }) => toAgent)).toEqual([1_000, 1_200, 1_000]);
});

test('Mixer leaves sound as it is while the other session says nothing', () => {
  const [caller] = Mixer.pair();
  const [words, heard] = [level(5), level(7)];

  expect(caller.say(words)).toBe(words);
  expect(caller.hear(heard)).toBe(heard);
});

test('Mixer lets an agent hear the other session however its own session cuts time', () => {
  const [caller, colleague] = Mixer.pair();
  let heard = level(0);

  for (let at = 0; at < 20; at += 1) {
    colleague.hear(level(200));
    if (at % 3 === 2) heard = caller.hear(level(1_000, 3 * FRAME)).slice();
  }

  expect(heard).toHaveLength(3 * FRAME);
  expect([...new Set(heard)]).toEqual([1_200]);
});

test('SoundQueue waits for a head start of 40 ms, and then gives what came in its order', () => {
  const queue = openQueue();
  const heard: number[][] = [];

  for (let at = 1; at <= 5; at += 1) {
    queue.push(level(at));
    heard.push(taken(queue));
  }

  expect(heard).toEqual([[0], [1], [2], [3], [4]]);
});

test('SoundQueue makes up for a packet that comes 20 ms late without a hole', () => {
  const queue = openQueue();
  const heard: number[][] = [];
  queue.push(level(1));
  queue.push(level(2));

  heard.push(taken(queue));
  heard.push(taken(queue));
  queue.push(level(3));
  heard.push(taken(queue));

  expect(heard).toEqual([[1], [2], [3]]);
});

test('SoundQueue has silence where packets are missing, and a head start again after it', () => {
  const queue = openQueue();
  for (const value of [1, 2]) queue.push(level(value));
  const heard = [taken(queue), taken(queue), taken(queue)];

  queue.push(level(3));
  heard.push(taken(queue));
  queue.push(level(4));
  heard.push(taken(queue));

  expect(heard).toEqual([[1], [2], [0], [0], [3]]);
});

test('SoundQueue leaves out the oldest of what is more than 100 ms, and is 40 ms late then', () => {
  const queue = openQueue();
  for (let at = 1; at <= 5; at += 1) queue.push(level(at));
  const before = queue.length;

  queue.push(level(6));

  expect(before).toBe(5 * FRAME);
  expect(queue.length).toBe(2 * FRAME);
  expect([taken(queue), taken(queue)]).toEqual([[5], [6]]);
});

test('SoundQueue never holds more than its share of packets of any length', () => {
  const queue = openQueue();
  const lengths = [1, 160, 240, 480, 1_600, 40_000];

  const held = lengths.flatMap((length) =>
    Array.from({ length: 20 }, () => {
      queue.push(level(1, length));
      return queue.length;
    }),
  );

  expect(Math.max(...held)).toBeLessThanOrEqual(480 + 160 + 480);
  expect(taken(queue)).toEqual([1]);
});

test('SoundQueue hears a source whose clock is 1 % fast or slow with few holes, and never late', () => {
  const lengths = [162, 158];

  const heard = lengths.map((length) => {
    const queue = openQueue();
    let holes = 0;
    for (let at = 0; at < 1_000; at += 1) {
      queue.push(level(1, length));
      const pcm = level(0);
      queue.mixInto(pcm);
      if (pcm.includes(0)) holes += 1;
    }
    return { holes, late: queue.length };
  });

  expect(Math.max(...heard.map(({ holes }) => holes))).toBeLessThan(40);
  expect(Math.max(...heard.map(({ late }) => late))).toBeLessThanOrEqual(800);
});

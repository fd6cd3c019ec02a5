/** A map of what comes and goes: what it holds, and that what was taken out does not outlive a small collection. */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { TurnoverMap } from '../../src/sip/turnover-map.ts';

test('TurnoverMap holds one value a key, the newest', () => {
  const map = new TurnoverMap<{ name: string }>();

  map.set('a', { name: 'first' });
  map.set('b', { name: 'second' });
  map.set('a', { name: 'third' });

  expect(map.get('a')).toEqual({ name: 'third' });
  expect(map.get('c')).toBeUndefined();
  expect(map.size).toBe(2);
  expect(map.values().map(({ name }) => name)).toEqual(['second', 'third']);
});

test('TurnoverMap says whether there was anything to take out', () => {
  const map = new TurnoverMap<object>();

  map.set('a', {});

  expect([map.delete('a'), map.delete('a')]).toEqual([true, false]);
  expect(map.get('a')).toBeUndefined();
  expect(map.size).toBe(0);
});

test('TurnoverMap lets values be taken out while they are gone through', () => {
  const map = new TurnoverMap<{ name: string }>();

  for (const name of ['a', 'b', 'c']) map.set(name, { name });
  for (const { name } of map.values()) map.delete(name);

  expect(map.size).toBe(0);
});

test('TurnoverMap that has outlived a full collection leaves next to nothing for the next one', () => {
  setFlagsFromString('--expose-gc');
  // What V8 once takes for long-lived, it makes so for the rest of the run.
  setFlagsFromString('--no-allocation-site-pretenuring');
  const collect: () => void = runInNewContext('gc');
  const octets = Buffer.alloc(20_000, 'a');
  const map = new TurnoverMap<{ text: string }>();
  const heldBytes: number[] = [];

  collect();
  for (let number = 0; number < 20_000; number++) {
    map.set(`call ${number}`, { text: octets.toString('latin1') });
    map.delete(`call ${number - 8}`);
    if (number % 100 === 0) heldBytes.push(oldGenerationBytes());
  }

  expect(Math.max(...heldBytes) - Math.min(...heldBytes)).toBeLessThan(10e6);
});

function oldGenerationBytes(): number {
  const spaces = getHeapSpaceStatistics().filter(({ space_name }) => space_name === 'old_space');
  return spaces.reduce((sum, { space_used_size }) => sum + space_used_size, 0);
}

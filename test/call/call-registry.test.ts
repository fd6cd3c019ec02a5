import { expect, test } from 'vitest';
import { CallRegistry } from '../../src/call/call-registry.ts';

const liveCall = (callId: string) => ({
  callId,
  hangUp: () => undefined,
  end: async () => undefined,
});

test('CallRegistry is full at its limit and takes calls again when one ends', () => {
  const registry = new CallRegistry({ callsMax: 2 });

  registry.add(liveCall('a'));
  registry.add(liveCall('b'));
  const wasFull = registry.isFull;
  registry.delete('a');

  expect(wasFull).toBe(true);
  expect(registry.isFull).toBe(false);
});

test('CallRegistry counts a call once when its session takes the place of its ringing', () => {
  const registry = new CallRegistry({ callsMax: 2 });

  registry.add(liveCall('a'));
  registry.add(liveCall('a'));

  expect(registry.size).toBe(1);
});

test('CallRegistry tells when the last call has ended', async () => {
  const registry = new CallRegistry({ callsMax: 2 });
  registry.add(liveCall('a'));

  const empty = registry.whenEmpty();
  registry.delete('a');

  await expect(empty).resolves.toBeUndefined();
});

test('CallRegistry ends every call', async () => {
  const ended: string[] = [];
  const registry = new CallRegistry({ callsMax: 2 });
  for (const callId of ['a', 'b']) {
    const end = async (reason: string) => void ended.push(`${callId} ${reason}`);
    registry.add({ ...liveCall(callId), end });
  }

  await registry.endAll('shutdown');

  expect(ended).toEqual(['a shutdown', 'b shutdown']);
});

test('CallRegistry ends the others when one cannot be ended', async () => {
  const ended: string[] = [];
  const registry = new CallRegistry({ callsMax: 2 });
  registry.add({ ...liveCall('a'), end: () => Promise.reject(new Error('BYE cannot be sent')) });
  registry.add({ ...liveCall('b'), end: async () => void ended.push('b') });

  await expect(registry.endAll('shutdown')).resolves.toBeUndefined();

  expect(ended).toEqual(['b']);
});

test('CallRegistry hangs up a call that it holds once the code that asks is done', async () => {
  const hungUp: string[] = [];
  const registry = new CallRegistry({ callsMax: 2 });
  registry.add({ ...liveCall('a'), hangUp: () => hungUp.push('a') });

  const isFound = [registry.hangUp('a'), registry.hangUp('b')];
  const before = [...hungUp];
  await Promise.resolve();

  expect(before).toEqual([]);
  expect(isFound).toEqual([true, false]);
  expect(hungUp).toEqual(['a']);
});

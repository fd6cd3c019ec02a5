import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import { readWavHeader } from '../../../src/media/recording/wav-file.ts';
import { startServer } from '../../support/server/server.ts';

const CALLS = 20;

test('after kill -9 during 20 live calls, the next start has 20 ended records and playable recordings', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-crash-'));
  const first = await (await startServer({ dataDir })).ready();
  await first.createAgent({ greeting: 'Hello. '.repeat(60) });
  const phone = new Phone();
  await phone.start();
  const uri = `sip:+12025550123@127.0.0.1:${first.sipPort}`;
  await Promise.all(Array.from({ length: CALLS }, () => phone.call(uri)));
  await new Promise((resolve) => setTimeout(resolve, 3500));

  first.kill('SIGKILL');
  await first.exited;
  await phone.stop();
  const second = await (await startServer({ dataDir })).ready();
  const { body } = await second.api('GET', '/api/calls?limit=100');
  await second.stop();

  const calls = body.data as { id: string; status: string; endReason: string; endedAt: string }[];
  expect(body.total).toBe(CALLS);
  expect(calls.map(({ status, endReason }) => `${status} ${endReason}`)).toEqual(
    Array(CALLS).fill('failed error'),
  );
  expect(calls.every(({ endedAt }) => endedAt !== null)).toBe(true);
  for (const { id } of calls) {
    const path = join(dataDir, 'recordings', `${id}.wav`);
    expect(existsSync(path)).toBe(true);
    const bytes = readFileSync(path);
    const header = readWavHeader(bytes);
    expect(header).toMatchObject({ channels: 2, dataBytes: bytes.length - 44 });
    expect((header?.dataBytes ?? 0) / 32_000).toBeGreaterThan(2);
  }
  rmSync(dataDir, { recursive: true, force: true });
});

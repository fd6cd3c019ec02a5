/** Fills the store of a running server with calls that are over, through the store's own code. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/lib/logger.ts';
import { wavHeader } from '../../../src/media/recording/wav-file.ts';
import { openStore, type Store } from '../../../src/store/store.ts';
import type { TestServer } from '../server/server.ts';
import { buildCall } from './build-call.ts';

const MINUTE_MS = 60_000;
const RATE_HZ = 8000;

/** One a minute, the newest a minute before `beforeMs`; of the account that the server's keys belong to. */
export async function seedCalls(
  server: TestServer,
  options: {
    readonly agentId: string;
    readonly count: number;
    /** Unix milliseconds; now unless given. */
    readonly beforeMs?: number;
    /** How their ids begin, behind `call_`. */
    readonly name?: string;
  },
): Promise<void> {
  const { agentId, count, beforeMs = Date.now(), name = 'seeded' } = options;
  await inStore(server, async (store, accountId) => {
    for (let number = 0; number < count; number += 1) {
      const startedAt = new Date(beforeMs - (number + 1) * MINUTE_MS);
      const call = endedCall({ id: `call_${name}${number}`, startedAt, durationMs: 30_000 });
      await store.calls.insert({ ...call, accountId, agentId }, []);
    }
  });
}

/** A call on which both sides speak in turns of two seconds, with its recording. @returns its id. */
export async function seedTalk(
  server: TestServer,
  options: {
    readonly agentId: string;
    readonly turns: number;
    readonly recordingTruncated?: boolean;
  },
): Promise<string> {
  const { agentId, turns, recordingTruncated = false } = options;
  const [id, startedAt, turnMs] = ['call_seededTalk', new Date(Date.now() - 60 * MINUTE_MS), 2000];
  const recordingFile = join('recordings', `${id}.wav`);
  mkdirSync(join(server.dataDir, 'recordings'), { recursive: true });
  writeFileSync(join(server.dataDir, recordingFile), turnsOfTone(turns, turnMs));
  await inStore(server, async (store, accountId) => {
    const call = endedCall({ id, startedAt, durationMs: turns * turnMs });
    await store.calls.insert(
      { ...call, accountId, agentId, recordingFile, recordingTruncated },
      [],
    );
    await store.calls.addTimelineEntry(id, { at: startedAt, kind: 'answered', details: {} });
    for (let turn = 0; turn < turns; turn += 1) {
      const at = new Date(startedAt.getTime() + turn * turnMs);
      const role = turn % 2 === 0 ? 'agent' : 'user';
      await store.calls.addTranscriptEntry(id, { role, text: `These are the words ${turn}.`, at });
    }
  });
  return id;
}

/** Opens the store of a running server, and closes it again. */
export async function inStore(
  server: TestServer,
  fill: (store: Store, accountId: string) => Promise<void>,
): Promise<void> {
  const { body } = await server.api('GET', '/api/account');
  const file = join(server.dataDir, 'offhook.db');
  const store = await openStore({ file, clock: systemClock, log: silentLogger, mayMigrate: false });
  try {
    await fill(store, String(body.id));
  } finally {
    await store.close();
  }
}

function endedCall(facts: {
  readonly id: string;
  readonly startedAt: Date;
  readonly durationMs: number;
}) {
  const { id, startedAt, durationMs } = facts;
  return buildCall({
    id,
    status: 'completed',
    createdAt: startedAt,
    startedAt,
    answeredAt: startedAt,
    endedAt: new Date(startedAt.getTime() + durationMs),
    endReason: 'user_hangup',
    durationSeconds: durationMs / 1000,
    sentiment: 'positive',
  });
}

/** A second of tone, a second of silence; the agent on the right begins, the caller on the left follows. */
function turnsOfTone(turns: number, turnMs: number): Buffer {
  const frames = (turns * turnMs * RATE_HZ) / 1000;
  const samples = new Int16Array(frames * 2);
  for (let frame = 0; frame < frames; frame += 1) {
    const atMs = (frame / RATE_HZ) * 1000;
    const side = Math.floor(atMs / turnMs) % 2 === 0 ? 1 : 0;
    if (atMs % turnMs < turnMs / 2) {
      samples[frame * 2 + side] = 12_000 * Math.sin((frame * 2 * Math.PI * 440) / RATE_HZ);
    }
  }
  const sound = Buffer.from(samples.buffer);
  return Buffer.concat([wavHeader({ channels: 2, rateHz: RATE_HZ }, sound.length), sound]);
}

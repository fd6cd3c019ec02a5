import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/lib/logger.ts';
import { openStore, type Store } from '../../../src/store/store.ts';
import { addAccount, testFolder } from '../../support/store/test-store.ts';
import { buildEndpoint, buildEvent } from '../../support/webhook/webhook-world.ts';

const KILLS = 100;
const EVENTS = 20_000;
const ENDPOINTS = 20;

/** Everything that this one is sent runs out of time, one attempt at a time, so it gets less: 100 attempts of 150 ms. */
const HANGING = 0;
const HANGING_EVENTS = 20;
const TIMEOUT_MS = 150;
const WAITS = '0,0.05,0.05,0.05,0.05';

/** After its first result that is kept, a process lives up to this long. */
const LIFE_MS_MAX = 40;

/** It takes half a minute on two free cores. */
const TEST_MS_MAX = 300_000;

const SENDER = new URL('../../support/webhook/webhook-sender.ts', import.meta.url).pathname;

/** A fair die that falls the same way in every run. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** All endpoints' receiver: counts what comes, and answers one in twenty with 500. */
async function openReceiver() {
  const seen = new Map<string, number>();
  const chance = dice(1);
  const server = createServer((request, response) => {
    request.resume();
    const id = String(request.headers['webhook-id']);
    seen.set(id, (seen.get(id) ?? 0) + 1);
    if (request.url === `/${HANGING}`) return;
    request.on('end', () => response.writeHead(chance() < 0.05 ? 500 : 204).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { seen, port: (server.address() as AddressInfo).port };
}

async function openOutbox(file: string, port: number): Promise<Store> {
  const store = await openStore({ file, clock: systemClock, log: silentLogger });
  for (let index = 0; index < ENDPOINTS; index += 1) {
    await addAccount(store, `acct_${index}`);
    const url = `http://127.0.0.1:${port}/${index}`;
    const endpoint = buildEndpoint({ id: `we_${index}`, accountId: `acct_${index}`, url });
    await store.webhookEndpoints.insert(endpoint);
  }
  return store;
}

/** Writes the next events; each goes to one endpoint. */
async function happen(store: Store, from: number, to: number): Promise<void> {
  for (let index = from; index < to; index += 1) {
    const isHanging = index % (EVENTS / HANGING_EVENTS) === 0;
    const endpoint = isHanging ? HANGING : 1 + (index % (ENDPOINTS - 1));
    const id = `evt_${index}`;
    await store.events.insertQuiet(
      buildEvent({ id, accountId: `acct_${endpoint}`, createdAt: new Date() }),
    );
  }
}

/** Waits for a line of a process. @returns false when it ended before. */
async function hears(child: ChildProcess, word: string): Promise<boolean> {
  let text = '';
  for await (const chunk of child.stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    text += String(chunk);
    if (text.includes(word)) return true;
  }
  return false;
}

function startSender(file: string): ChildProcess {
  const child = spawn(process.execPath, [SENDER, file, String(TIMEOUT_MS), WAITS], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** Lets a process deliver until some of its results are kept, and a moment longer; then kills it. */
async function deliverAndKill(child: ChildProcess, lifeMs: number): Promise<boolean> {
  await hears(child, 'ready');
  const exited = once(child, 'exit');
  child.stdin?.write('go\n');
  const hasKept = await hears(child, 'kept');
  await new Promise((resolve) => setTimeout(resolve, lifeMs));
  child.kill('SIGKILL');
  await exited;
  return hasKept;
}

/** Lets the last process deliver what is left. What it holds is pending behind the cursor. */
async function deliverRest(child: ChildProcess, store: Store, file: string): Promise<void> {
  const sqlite = new Sqlite(file, { readonly: true });
  onTestFinished(() => void sqlite.close());
  const unread = sqlite
    .prepare('select max(position) - (select position from outbox_cursors) from events')
    .pluck();
  await hears(child, 'ready');
  const exited = once(child, 'exit');
  child.stdout?.resume();
  child.stdin?.write('go\n');
  do await new Promise((resolve) => setTimeout(resolve, 200));
  while (Number(unread.get()) > 0 || (await store.outbox.counts()).pending > 0);
  child.stdin?.end();
  await exited;
}

test(
  `Deliverer loses nothing and makes no sixth attempt when it is killed ${KILLS} times`,
  async () => {
    const file = join(testFolder(), 'offhook.db');
    const receiver = await openReceiver();
    const store = await openOutbox(file, receiver.port);
    onTestFinished(() => store.close());
    const chance = dice(2);
    const standby = [startSender(file), startSender(file)];
    let killsWithResults = 0;

    for (let kill = 0; kill < KILLS; kill += 1) {
      await happen(store, (kill * EVENTS) / KILLS, ((kill + 1) * EVENTS) / KILLS);
      const child = standby.shift() ?? startSender(file);
      standby.push(startSender(file));
      if (await deliverAndKill(child, chance() * LIFE_MS_MAX)) killsWithResults += 1;
    }
    await deliverRest(standby.shift() ?? startSender(file), store, file);

    const sqlite = new Sqlite(file, { readonly: true });
    onTestFinished(() => void sqlite.close());
    const count = (sql: string) => Number(sqlite.prepare(sql).pluck().get());
    const attempts = count('select count(*) from webhook_attempts');
    const received = [...receiver.seen.values()].reduce((sum, copies) => sum + copies, 0);
    const again = ((received - attempts) * 100) / received;
    process.stdout.write(
      `${KILLS} kills: ${received} requests, ${received - attempts} of them (${again.toFixed(1)} %) made again, 0 lost expected\n`,
    );
    expect(killsWithResults).toBe(KILLS);
    expect(receiver.seen.size).toBe(EVENTS);
    expect(count(`select count(*) from webhook_deliveries where status = 'pending'`)).toBe(0);
    expect(count('select count(distinct event_id) from webhook_deliveries')).toBe(EVENTS);
    expect(count('select count(*) from webhook_deliveries')).toBe(EVENTS);
    expect(
      count(
        `select count(*) from webhook_deliveries where status = 'failed' and endpoint_id = 'we_0'`,
      ),
    ).toBe(HANGING_EVENTS);
    expect(count('select max(attempt) from webhook_attempts')).toBe(5);
    expect(count('select count(distinct delivery_id || attempt) from webhook_attempts')).toBe(
      attempts,
    );
    expect(count('select count(*) from webhook_deliveries where attempts > 5')).toBe(0);
    expect(sqlite.pragma('integrity_check', { simple: true })).toBe('ok');
  },
  TEST_MS_MAX,
);

/** A campaign of the sandbox on the whole server: to its end, and through kill -9. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { SandboxClient } from '../../support/server/sandbox-client.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const CONTACTS = 24;

/** Different after every start, so that kills fall into all parts of a call. */
const KILLED_AFTER_MS = [150, 400, 700, 1100, 1600];

/** Scenarios by their last digits: no answer, busy, a friendly party, the agent hangs up. */
const ENDINGS = ['00', '01', '99', '07'];

const numberOf = (index: number) => `+1202555${10 + (index >> 2)}${ENDINGS[index % 4]}`;

interface CampaignBody {
  readonly id: string;
  readonly status: string;
  readonly counts: Readonly<Record<string, unknown>>;
}

function openWorld() {
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-campaigns-'));
  let server: TestServer | undefined;
  onTestFinished(async () => {
    await server?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return {
    dataDir,
    start: async () => {
      server = await (await startServer({ dataDir })).ready();
      return server;
    },
  };
}

async function addCampaign(client: SandboxClient, count: number): Promise<CampaignBody> {
  const rows = Array.from({ length: count }, (_, index) => `${numberOf(index)},c-${index}`);
  const { status, body } = await client.request('POST', '/api/campaigns', {
    ...{ name: 'Recall', agentId: await client.createAgent() },
    ...{ csv: `to,customer\n${rows.join('\n')}\n`, callsPerMinute: 600, maxConcurrentCalls: 20 },
  });
  if (status !== 201) throw new Error(`Cannot make the campaign: ${JSON.stringify(body)}`);
  return body as unknown as CampaignBody;
}

const read = async (client: SandboxClient, id: string) =>
  (await client.request('GET', `/api/campaigns/${id}`)).body as unknown as CampaignBody;

const statusOf = async (client: SandboxClient, id: string) => (await read(client, id)).status;

test('a campaign calls every number of its list, and ends by itself', async () => {
  const world = openWorld();
  const client = new SandboxClient(await world.start());

  const { id } = await addCampaign(client, 8);

  await expect.poll(() => statusOf(client, id), { timeout: 60_000 }).toBe('completed');
  expect((await read(client, id)).counts).toEqual({
    ...{ total: 8, pending: 0, calling: 0, completed: 4, failed: 4, refused: 0, cancelled: 0 },
    byEndReason: { no_answer: 2, busy: 2, user_hangup: 2, agent_hangup: 2 },
  });
});

test('kill -9 at any instant neither loses a call of a campaign nor makes it twice', async () => {
  const world = openWorld();
  let server = await world.start();
  const { id } = await addCampaign(new SandboxClient(server), CONTACTS);

  for (const afterMs of KILLED_AFTER_MS) {
    await wait(afterMs);
    server.kill('SIGKILL');
    await server.exited;
    server = await world.start();
  }

  const client = new SandboxClient(server);
  await expect.poll(() => statusOf(client, id), { timeout: 90_000 }).toBe('completed');
  const sqlite = new Sqlite(join(world.dataDir, 'offhook.db'), { readonly: true });
  const all = <Row>(query: string) => sqlite.prepare<[], Row>(query).all();
  const calls = all<{ to: string; n: number }>(
    'select to_number as "to", count(*) as n from calls group by to_number order by to_number',
  );
  const unbound = all(
    'select 1 from calls where id not in (select call_id from campaign_contacts)',
  );
  const contacts = all<{ attempts: number }>('select attempts from campaign_contacts');
  sqlite.close();
  expect(calls).toEqual(
    Array.from({ length: CONTACTS }, (_, index) => ({ to: numberOf(index), n: 1 })).toSorted(
      (left, right) => (left.to < right.to ? -1 : 1),
    ),
  );
  expect(unbound).toEqual([]);
  expect(contacts.map(({ attempts }) => attempts)).toEqual(Array(CONTACTS).fill(1));
});

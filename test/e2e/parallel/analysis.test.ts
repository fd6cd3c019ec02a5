import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import Sqlite from 'better-sqlite3';
import { afterEach, expect, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import type { Call } from '../../../src/domain/call/call.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/lib/logger.ts';
import { openStore } from '../../../src/store/store.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { buildCall } from '../../support/store/build-call.ts';

const WORKER = join(import.meta.dirname, '../../support/store/analysis-worker.ts');

const undo: (() => unknown)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'offhook-analysis-'));
  undo.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A server that has run before, so that there is an account; its first agent is given. */
async function dataOfFirstRun(): Promise<{ dataDir: string; agentId: string; accountId: string }> {
  const dataDir = folder();
  const server = await (await startServer({ dataDir })).ready();
  undo.push(() => server.stop());
  const agentId = await server.createAgent();
  await server.stop();
  const accountId = rows<{ id: string }>(dataDir, 'select id from accounts')[0]?.id ?? '';
  return { dataDir, agentId, accountId };
}

function rows<Row>(dataDir: string, query: string): Row[] {
  const sqlite = new Sqlite(join(dataDir, 'offhook.db'), { readonly: true });
  try {
    return sqlite.prepare<[], Row>(query).all();
  } finally {
    sqlite.close();
  }
}

/** Adds a call with the caller's words, as a process that died in the middle of it leaves it. */
async function leaveCall(dataDir: string, fields: Partial<Call>, words: string): Promise<void> {
  const file = join(dataDir, 'offhook.db');
  const store = await openStore({ file, clock: systemClock, log: silentLogger });
  const answeredAt = new Date(Date.now() - 60_000);
  await store.calls.insert(buildCall({ status: 'in_progress', answeredAt, ...fields }), []);
  const entry = { role: 'user', text: words, at: new Date(Date.now() - 50_000) } as const;
  await store.calls.addTranscriptEntry(fields.id ?? 'call_1', entry);
  await store.close();
}

async function start(
  dataDir: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<TestServer> {
  const server = await (await startServer({ dataDir, environment })).ready();
  undo.push(() => server.stop());
  return server;
}

/** Resolves with the data of the call's `call.transcribed`, once it is there. */
async function transcribed(dataDir: string, waitMs: number): Promise<Record<string, unknown>> {
  const deadlineMs = performance.now() + waitMs;
  for (;;) {
    const query = "select body from events where kind = 'call.transcribed'";
    const [event] = rows<{ body: string }>(dataDir, query);
    if (event !== undefined) return JSON.parse(event.body).data;
    if (performance.now() > deadlineMs) throw new Error(`no call.transcribed within ${waitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test('a call that a crash cut off is analysed when the server is up again, and GET shows it', async () => {
  const { dataDir, agentId, accountId } = await dataOfFirstRun();
  const words = 'Thank you, I would like to book an appointment.';
  await leaveCall(dataDir, { agentId, accountId }, words);

  const server = await start(dataDir);
  const event = await transcribed(dataDir, 5000);
  const { body } = await server.api('GET', '/api/calls/call_1');
  const metrics = await (await fetch(`${server.baseUrl}/metrics`)).text();

  const analysis = {
    summary: `The caller said: ${words}`,
    sentiment: 'positive',
    intentDetected: 'booking',
  };
  expect(event).toMatchObject({ callId: 'call_1', ...analysis, recordingUrl: '' });
  expect(body).toMatchObject({ status: 'failed', endReason: 'error', ...analysis });
  expect(metrics).toContain('offhook_analysis_total{result="model"} 1');
  expect(metrics).toContain('offhook_analysis_waiting 0');
});

test('a call that is hung up is analysed, and the link to its recording works', async () => {
  const server = await (await startServer()).ready();
  undo.push(() => server.stop());
  await server.createAgent();
  const phone = new Phone();
  await phone.start();
  undo.push(() => phone.stop());

  const call = await phone.call(`sip:+12025550123@127.0.0.1:${server.sipPort}`);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  await call.hangUp();
  const event = await transcribed(server.dataDir, 5000);
  const link = String(event.recordingUrl);
  const recording = await fetch(link.replace(/^http:\/\/[^/]+/, server.baseUrl));
  const { body } = await server.api('GET', `/api/calls/${event.callId}`);

  expect(new URL(link).pathname).toBe(`/api/calls/${event.callId}/recording`);
  expect(recording.status).toBe(200);
  expect((await recording.arrayBuffer()).byteLength).toBeGreaterThan(1000);
  expect(event).toMatchObject({ sentiment: 'neutral', intentDetected: 'other' });
  expect(body).toMatchObject({ summary: event.summary, sentiment: 'neutral' });
});

test('a model server that hangs delays the event by seconds, and the list of words answers', async () => {
  const { dataDir, agentId, accountId } = await dataOfFirstRun();
  const hanging = createServer((request, response) => {
    if (request.url?.endsWith('/models')) response.end('{"data":[]}');
  });
  await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve));
  undo.push(() => hanging.closeAllConnections());
  undo.push(() => hanging.close());
  const { port } = hanging.address() as AddressInfo;
  await leaveCall(dataDir, { agentId, accountId }, 'This is terrible, I am very angry.');

  await start(dataDir, {
    LLM: 'openai',
    OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
    OPENAI_MODEL: 'hangs',
  });
  const event = await transcribed(dataDir, 15_000);

  expect(event).toMatchObject({
    summary: 'This is terrible, I am very angry.',
    sentiment: 'negative',
    intentDetected: 'other',
  });
});

/** A server that speaks OpenAI's protocol, and answers both questions about a call; the first extraction lacks a field. */
async function startAnalystModel() {
  const schemas: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.url?.endsWith('/models')) {
        response.end('{"data":[{"id":"analyst"}]}');
        return;
      }
      const body = JSON.parse(Buffer.concat(chunks).toString() || '{}');
      const names = Object.keys(body.response_format?.json_schema?.schema?.properties ?? {});
      schemas.push(names.join());
      const content = JSON.stringify(answerFor(names, schemas.length));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const piece of content.match(/.{1,7}/gsu) ?? []) {
        const choices = [{ index: 0, delta: { content: piece }, finish_reason: null }];
        response.write(`data: ${JSON.stringify({ choices })}\n\n`);
      }
      response.end('data: [DONE]\n\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  undo.push(() => server.closeAllConnections());
  undo.push(() => server.close());
  return { schemas, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

function answerFor(names: readonly string[], asked: number): object {
  if (!names.includes('extracted')) {
    return { summary: 'A table.', sentiment: 'neutral', sentimentScore: 0.5, intent: 'booking' };
  }
  const success = { met: false, reason: 'No table was free.' };
  return { extracted: asked === 2 ? { name: null } : { guests: 4, name: null }, success };
}

test('what the agent extracts is in the call and its event, after an answer that had to be corrected', async () => {
  const { dataDir, agentId, accountId } = await dataOfFirstRun();
  const model = await startAnalystModel();
  const properties = { guests: { type: 'integer', minimum: 1 }, name: { type: 'string' } };
  const server = await start(dataDir, {
    ...{ LLM: 'openai', OPENAI_BASE_URL: model.url, OPENAI_MODEL: 'analyst' },
  });
  const patched = await server.api('PATCH', `/api/agents/${agentId}`, {
    extract: { type: 'object', properties, required: ['guests'] },
    successCriteria: 'A table is booked.',
  });
  expect(patched.status).toBe(200);
  await server.stop();
  await leaveCall(dataDir, { agentId, accountId }, 'A table for four, please.');

  const next = await start(dataDir, {
    ...{ LLM: 'openai', OPENAI_BASE_URL: model.url, OPENAI_MODEL: 'analyst' },
  });
  const event = await transcribed(dataDir, 10_000);
  const { body } = await next.api('GET', '/api/calls/call_1');

  const found = {
    ...{ summary: 'A table.', extracted: { guests: 4 } },
    success: { met: false, reason: 'No table was free.' },
  };
  expect(event).toMatchObject(found);
  expect(body).toMatchObject(found);
  expect(model.schemas.filter((names) => names !== '')).toEqual([
    'summary,sentiment,sentimentScore,intent',
    'extracted,success',
    'extracted,success',
  ]);
});

test('kill -9 at any moment neither loses a call.transcribed nor sends one twice', async () => {
  const { dataDir, agentId, accountId } = await dataOfFirstRun();
  const file = join(dataDir, 'offhook.db');
  const store = await openStore({ file, clock: systemClock, log: silentLogger });
  for (let index = 0; index < 120; index += 1) {
    const call = buildCall({
      id: `call_${index}`,
      agentId,
      accountId,
      status: 'in_progress',
      answeredAt: new Date(),
    });
    await store.calls.insert(call, []);
    await store.calls.addTranscriptEntry(call.id, { role: 'user', text: 'Hello?', at: new Date() });
    const end = { status: 'completed', endReason: 'user_hangup', endedAt: new Date() } as const;
    await store.calls.update({ ...call, ...end }, []);
  }
  await store.close();
  let kills = 0;

  for (const count of [1, 2, 3, 5, 8, 13, 21, 1, 4, 6, Number.POSITIVE_INFINITY]) {
    const worker = spawn(process.execPath, [WORKER, file], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let analysed = 0;
    for await (const _ of createInterface({ input: worker.stdout })) {
      analysed += 1;
      if (analysed === count) kills += Number(worker.kill('SIGKILL'));
    }
    if (worker.exitCode === null && worker.signalCode === null) await once(worker, 'exit');
  }

  const query =
    "select call_id, count(*) as events from events where kind = 'call.transcribed' group by call_id";
  const counts = rows<{ events: number }>(dataDir, query);
  expect(kills).toBe(10);
  expect(counts).toHaveLength(120);
  expect(counts.filter(({ events }) => events !== 1)).toEqual([]);
  expect(rows(dataDir, 'select * from analysis_jobs')).toEqual([]);
});

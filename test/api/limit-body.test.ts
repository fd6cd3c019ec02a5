import { expect, test } from 'vitest';
import { HttpServer } from '../../src/api/http-server.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { LIVE_KEY, openTestApi } from '../support/test-api.ts';

/** Sends `chunks` of 64 KiB over a real connection, without announcing how long they are. */
async function postUnannounced(chunks: number): Promise<{
  status: number;
  body: string;
  connection: string | null;
}> {
  const api = await openTestApi();
  const server = new HttpServer({
    host: '127.0.0.1',
    port: 0,
    answer: api.answer,
    newId: () => 'req_0',
    clock: systemClock,
  });
  const port = await server.start();
  let sent = 0;
  const stream = new ReadableStream({
    pull(controller) {
      sent += 1;
      if (sent > chunks) controller.close();
      else controller.enqueue(new TextEncoder().encode(' '.repeat(65_536)));
    },
  });
  try {
    const response = await fetch(`http://127.0.0.1:${port}/api/agents`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${LIVE_KEY}`, 'Content-Type': 'application/json' },
      body: stream,
      duplex: 'half',
    });
    const connection = response.headers.get('Connection');
    return { status: response.status, body: await response.text(), connection };
  } finally {
    await server.stop();
  }
}

test('A body that grows over 1 MiB without saying so is refused with the envelope', async () => {
  const { status, body, connection } = await postUnannounced(17);

  expect(status).toBe(400);
  expect(connection).toBe('close');
  expect(body).toContain('expected 1 MiB at most');
});

test('A body of 1 MiB is read, and refused only for what it says', async () => {
  const { status, body } = await postUnannounced(16);

  expect(status).toBe(400);
  expect(body).toContain('expected well-formed JSON');
});

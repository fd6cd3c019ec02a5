/** Clients that keep a connection and say too little, in real time: Node looks for them by clocks of its own. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { HttpServer } from '../../src/api/http/http-server.ts';
import { systemClock } from '../../src/lib/clock.ts';

test.concurrent.each([
  ['nothing', ''],
  ['half of its header', 'GET /api'],
])('HttpServer lets a client that sends %s go after about 10 s', async (_case, text) => {
  const server = new HttpServer({
    ...{ host: '127.0.0.1', port: 0, newId: () => 'req_0', clock: systemClock },
    fetch: () => new Response(null),
  });
  const port = await server.start();
  onTestFinished(() => server.stop());
  const startedAtMs = systemClock.nowMs();
  const socket = connect(port, '127.0.0.1', () => socket.write(text));

  await once(socket.resume(), 'close');

  const tookMs = systemClock.nowMs() - startedAtMs;
  expect(tookMs).toBeGreaterThan(9000);
  expect(tookMs).toBeLessThan(20_000);
});

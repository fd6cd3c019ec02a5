import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { runSipp } from '../../support/sip/sipp.ts';

describeWith(['sipp'], 'sipp as the carrier', () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await (
      await startServer({ environment: { LOG_LEVEL: 'warn', MAX_CALLS: '1000' } })
    ).ready();
    await server.createAgent();
  });

  afterAll(() => server.stop());

  test.concurrent.each([
    ['over UDP', []],
    ['over TCP', ['-t', 't1']],
    ['over UDP with 5 % of the packets lost', ['-lost', '5']],
  ])('200 calls at 20 a second %s all succeed', async (_, args) => {
    const { sipPort } = server;
    const result = await runSipp({ sipPort, calls: 200, callsPerSecond: 20, args });

    expect(result).toMatchObject({ successful: 200, failed: 0 });
  });

  test('1,000 calls at 200 a second all succeed', async () => {
    const { sipPort } = server;
    const result = await runSipp({ sipPort, calls: 1000, callsPerSecond: 200 });

    expect(result).toMatchObject({ successful: 1000, failed: 0 });
  });

  test('every one of these calls is on record, nearly all ended by the caller', async () => {
    const all = await server.api('GET', '/api/calls?limit=1');
    const completed = await server.api('GET', '/api/calls?limit=1&status=completed');

    expect(all.body.total).toBe(1600);
    // Where sipp loses ACK and BYE both, it takes the 200 that is sent again for the answer to its BYE, and says neither
    // again: for us that call goes on until the ACK, or any sound, has been missing for long enough.
    expect(completed.body.total).toBeGreaterThanOrEqual(1590);
  });
});

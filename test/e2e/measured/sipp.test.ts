import { afterAll, beforeAll, expect, test, vi } from 'vitest';
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
    const totalOf = async (query: string): Promise<number> =>
      (await server.api('GET', `/api/calls?limit=1${query}`)).body.total as number;

    // The SIP engine answers BYE at once; under load the records follow a second or two later.
    const [ringing, inProgress] = ['&status=ringing', '&status=in_progress'];
    await vi.waitFor(
      async () => expect((await totalOf(ringing)) + (await totalOf(inProgress))).toBeLessThan(10),
      { timeout: 20_000, interval: 500 },
    );

    expect(await totalOf('')).toBe(1600);
    // Where sipp loses ACK and BYE both, it takes the 200 that is sent again for the answer to its BYE, and sends neither
    // again: for us that call goes on until its ACK, or audio, has been missing for too long.
    expect(await totalOf('&status=completed')).toBeGreaterThanOrEqual(1590);
  });
});

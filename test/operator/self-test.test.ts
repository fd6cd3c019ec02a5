/** The self-test's button: who may press it, one run at a time, and what the page shows of it. */
import { expect, test } from 'vitest';
import { SelfTestRun } from '../../src/operator/self-test.ts';
import { Browser, openSignedIn } from '../support/dashboard/dashboard-world.ts';
import { FakeClock } from '../support/time/fake-clock.ts';

function pendingRun() {
  const { promise, resolve } = Promise.withResolvers<{ isPassed: boolean; report: string }>();
  let signal: AbortSignal | undefined;
  const run = new SelfTestRun({
    clock: new FakeClock(),
    run: (given) => {
      signal = given;
      return promise;
    },
  });
  return { run, end: resolve, signal: () => signal };
}

test('POST /dashboard/self-test demands the session and its token, and starts a run', async () => {
  const { api, browser } = await openSignedIn();
  const statusOf = async (each: Browser, csrfToken?: null) =>
    (
      await each.ask('POST', '/dashboard/self-test', {
        body: {},
        ...(csrfToken === null && { csrfToken }),
      })
    ).status;

  expect(await statusOf(new Browser(api))).toBe(401);
  expect(await statusOf(browser, null)).toBe(403);
  expect(await statusOf(browser)).toBe(202);
  const { body } = await browser.json('GET', '/dashboard/self-test');
  expect(body).toMatchObject({ state: 'passed', report: 'OK' });
  expect((await new Browser(api).ask('GET', '/dashboard/self-test')).status).toBe(401);
});

test('SelfTestRun runs one at a time, and keeps the newest report', async () => {
  const { run, end } = pendingRun();

  const starts = [run.start(), run.start()];
  const during = run.state.state;
  end({ isPassed: false, report: 'FAILED  voice piper' });
  await Promise.resolve();

  expect(starts).toEqual([true, false]);
  expect(during).toBe('running');
  expect(run.state).toMatchObject({ state: 'failed', report: 'FAILED  voice piper' });
});

test('SelfTestRun ends a run when the server stops, and starts none after it', () => {
  const { run, signal } = pendingRun();
  run.start();

  run.stop();

  expect(signal()?.aborted).toBe(true);
  expect(run.start()).toBe(false);
});

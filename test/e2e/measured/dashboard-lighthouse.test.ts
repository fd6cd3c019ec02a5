/**
 * Lighthouse on the dashboard's main pages, signed in. Speed is not asked for here, since it needs a quiet machine:
 * `npm run bench -- lighthouse` does.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildDashboard } from '../../support/dashboard/dashboard-page.ts';
import { LighthouseBrowser, SCORED_PAGES, seedPages } from '../../support/dashboard/lighthouse.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const SCORE_MIN = 95;

const LAYOUT_SHIFT_MAX = 0.1;

describeWith(['chromium'], 'Lighthouse', () => {
  let server: TestServer;
  let browser: LighthouseBrowser;
  let addressOf: (page: string) => string;

  beforeAll(async () => {
    buildDashboard();
    server = await (await startServer()).ready();
    addressOf = await seedPages(server);
    browser = await LighthouseBrowser.signIn(server);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  test.each(SCORED_PAGES)('#/%s', async (page) => {
    const found = await browser.scoresOf(addressOf(page));

    process.stdout.write(`#/${page}: ${JSON.stringify(found)}\n`);
    const { scores, layoutShift } = found;
    for (const category of ['accessibility', 'best-practices', 'seo']) {
      expect(scores[category], category).toBeGreaterThanOrEqual(SCORE_MIN);
    }
    expect(layoutShift).toBeLessThanOrEqual(LAYOUT_SHIFT_MAX);
  });
});

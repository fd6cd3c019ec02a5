/** The page of models on a real server: a download that is refused for its bytes, one that is cancelled, one that ends well. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../models/support/download-world.ts';
import { cutAfter, someBytes, startModelServer } from '../../models/support/model-server.ts';
import { launchBrowser } from '../../support/dashboard/browser.ts';
import { buildDashboard, openDashboard } from '../../support/dashboard/dashboard-page.ts';
import { describeWith } from '../../support/server/programs.ts';
import { startServer } from '../../support/server/server.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** The file that the list of models promises, as a package of npm has it. */
const SILERO = readFileSync(join(ROOT, 'node_modules/@ricky0123/vad-web/dist/silero_vad_v5.onnx'));

const PLACE = '/vad/silero-v5/silero_vad.onnx';

describeWith(['chromium'], 'the models of the dashboard', () => {
  test('a download is refused for wrong bytes, cancelled, and then done, by the buttons of the page', async () => {
    buildDashboard();
    const hub = await startModelServer();
    const modelsDir = temporaryFolder();
    const file = join(modelsDir, PLACE);
    const environment = {
      MODELS_DIR: modelsDir,
      MODELS_BASE_URL: hub.origin,
      OLLAMA_HOST: 'http://127.0.0.1:9',
    };
    const server = await (await startServer({ environment })).ready();
    onTestFinished(() => server.stop());
    const browser = await launchBrowser();
    onTestFinished(() => browser.close());
    const { page } = await openDashboard(server, browser);
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    const start = button('Download Silero VAD v5');
    const download = page.getByRole('region', { name: 'Download of Silero VAD v5' });

    await page.goto(`${server.baseUrl}/#/models`);
    await page
      .getByRole('region', { name: 'What runs now' })
      .getByText('Voice detection')
      .waitFor();
    await page
      .getByRole('region', { name: 'Self-test' })
      .getByRole('button', { name: 'Run the self-test' })
      .waitFor();
    const small = page.getByRole('row', { name: /^Small/ });
    expect(await small.textContent()).toContain('MIT, BSD-2-Clause');
    hub.files.set(PLACE, someBytes(SILERO.length, 7));
    await start.click();
    await download.getByText('Cannot use "vad/silero-v5/silero_vad.onnx"').waitFor();
    expect(existsSync(file)).toBe(false);

    hub.files.set(PLACE, SILERO);
    hub.instead.set(PLACE, [cutAfter(SILERO, 1_000_000, new Promise(() => undefined))]);
    await start.click();
    await download.getByText('1 MB of 2.3 MB').waitFor();
    expect(await button('Download Small').isDisabled()).toBe(true);
    await button('Cancel download').click();
    await download.getByText('Cancelled. What was downloaded stays').waitFor();
    expect(existsSync(file)).toBe(false);

    await start.click();
    await page.getByText('Restart the server to use them').waitFor();
    await download.getByText('completed').waitFor();
    expect(readFileSync(file).equals(SILERO)).toBe(true);
    expect(hub.seen.at(-1)?.headers.range).toBe('bytes=1000000-');
    expect(await start.count()).toBe(0);
  });
});

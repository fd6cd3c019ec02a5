/** Scores of Lighthouse for pages behind the sign-in, in a browser that it shares with the test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import lighthouse, { desktopConfig } from 'lighthouse';
import { type BrowserContext, chromium } from 'playwright-core';
import { freePort } from '../network/free-ports.ts';
import type { TestServer } from '../server/server.ts';
import { seedCalls, seedTalk } from '../store/seed-calls.ts';
import { BrowserPage } from './browser.ts';
import { setUp } from './dashboard-page.ts';

/** What pages are scored by. */
const CATEGORIES = ['performance', 'accessibility', 'best-practices', 'seo'] as const;

/** The score of each category, from 0 to 100. */
export interface Scores {
  readonly scores: Readonly<Record<string, number>>;
  /** How far things move while the page loads: up to 0.1 is good. */
  readonly layoutShift: number;
  /** Audits that lower them. */
  readonly faults: readonly string[];
}

/** The pages that are scored, by their address. */
export const SCORED_PAGES = [
  'overview',
  'calls',
  'calls/{call}',
  'agents/{agent}',
  'analytics',
] as const;

/** A browser whose pages Lighthouse opens with the cookies that the test has. */
export class LighthouseBrowser {
  readonly #context: BrowserContext;
  readonly #port: number;
  readonly #profile: string;

  private constructor(context: BrowserContext, port: number, profile: string) {
    this.#context = context;
    this.#port = port;
    this.#profile = profile;
  }

  /** A browser that is signed in to the server, whose password it sets. */
  static async signIn(server: TestServer): Promise<LighthouseBrowser> {
    const profile = mkdtempSync(join(tmpdir(), 'offhook-lighthouse-'));
    const port = await freePort();
    const args = ['--no-sandbox', '--disable-dev-shm-usage', `--remote-debugging-port=${port}`];
    const options = { executablePath: '/usr/bin/chromium', args, viewport: null, locale: 'en-GB' };
    const context = await chromium.launchPersistentContext(profile, options);
    await setUp(server, new BrowserPage(await context.newPage()));
    return new LighthouseBrowser(context, port, profile);
  }

  /** As on a desktop computer with a quick line, which Lighthouse simulates. */
  async scoresOf(url: string): Promise<Scores> {
    const flags = {
      ...{ port: this.#port, disableStorageReset: true, onlyCategories: [...CATEGORIES] },
      ...({ logLevel: 'error', output: 'json' } as const),
    };
    let result = await lighthouse(url, flags, desktopConfig);
    // On a busy machine its trace may lack the beginning; it then asks for another run.
    if (result?.lhr.runtimeError !== undefined)
      result = await lighthouse(url, flags, desktopConfig);
    if (result === undefined) throw new Error(`Cannot score "${url}": Lighthouse has no result`);
    const { categories, audits, runtimeError } = result.lhr;
    if (runtimeError !== undefined)
      throw new Error(`Cannot score "${url}": ${runtimeError.message}`);
    const scores = CATEGORIES.map((name) => [
      name,
      Math.round((categories[name]?.score ?? 0) * 100),
    ]);
    const counted = new Set(
      CATEGORIES.flatMap((name) => categories[name]?.auditRefs ?? [])
        .filter(({ weight }) => weight > 0)
        .map(({ id }) => id),
    );
    const faults = Object.values(audits).flatMap(({ id, score, title, displayValue }) =>
      counted.has(id) && score !== null && score < 0.9 ? [`${id}: ${displayValue ?? title}`] : [],
    );
    const layoutShift = audits['cumulative-layout-shift']?.numericValue ?? Number.NaN;
    return { scores: Object.fromEntries(scores), layoutShift, faults };
  }

  async close(): Promise<void> {
    await this.#context.close();
    rmSync(this.#profile, { recursive: true, force: true });
  }
}

/** A server with calls and a talk to show. @returns the address of a page of `SCORED_PAGES` on it. */
export async function seedPages(server: TestServer): Promise<(page: string) => string> {
  const agentId = await server.createAgent({ name: 'Front desk' });
  await seedCalls(server, { agentId, count: 60 });
  const callId = await seedTalk(server, { agentId, turns: 6 });
  return (page) =>
    `${server.baseUrl}/#/${page.replace('{agent}', agentId).replace('{call}', callId)}`;
}

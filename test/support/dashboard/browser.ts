/** Debian's Chromium, driven as a reader would: what it complained about, what a checker of accessibility finds, and pictures. */
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';

const PICTURES = join('test-results', 'dashboard');

const TABS_MAX = 30;

const WIDE = { width: 1440, height: 900 } as const;

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface Finding {
  readonly id: string;
  readonly nodes: readonly {
    readonly target: readonly string[];
    readonly failureSummary: string;
  }[];
}

/** Close it when done. @param more of Chromium's own switches. */
export function launchBrowser(more: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--mute-audio', ...more],
  });
}

/** One page of its own profile, with everything that it complained about. */
export class BrowserPage {
  readonly page: Page;
  /** Uncaught errors, and violations of the page's Content-Security-Policy. */
  readonly complaints: string[] = [];

  constructor(page: Page) {
    this.page = page;
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      if (/Content Security Policy/.test(message.text())) this.complaints.push(message.text());
    });
  }

  static async open(browser: Browser): Promise<BrowserPage> {
    const context = await browser.newContext({ viewport: WIDE, locale: 'en-GB' });
    return new BrowserPage(await context.newPage());
  }

  /** What axe finds against WCAG 2.2 AA and best practice; it comes in past the page's policy, as a debugger does. */
  async findings(): Promise<readonly string[]> {
    await this.page.evaluate(AXE);
    const found = await this.page.evaluate(
      `axe.run({ runOnly: ${JSON.stringify(RULES)} }).then(({ violations }) => violations)`,
    );
    return (found as readonly Finding[]).map(
      ({ id, nodes }) => `${id}: ${nodes[0]?.target} ${nodes[0]?.failureSummary}`,
    );
  }

  /** Goes on by Tab until the control with this label has the focus. */
  async tabTo(label: string): Promise<void> {
    for (let press = 0; press < TABS_MAX; press += 1) {
      const focused = 'document.activeElement.labels?.[0]?.textContent';
      if ((await this.page.evaluate(focused)) === label) return;
      await this.page.keyboard.press('Tab');
    }
    throw new Error(`Tab does not reach "${label}"`);
  }

  /** Chooses in the account menu, such as a theme or a language. */
  async choose(name: string): Promise<void> {
    await this.page.locator('.user').click();
    await this.page.getByRole('menuitemradio', { name, exact: true }).click();
    await this.page.getByRole('menu').waitFor({ state: 'hidden' });
  }

  async picture(name: string): Promise<void> {
    mkdirSync(PICTURES, { recursive: true });
    await this.page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
  }

  /** Whether something reaches past the right edge of the window. */
  async isTooWide(): Promise<boolean> {
    const width = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
    return (await this.page.evaluate(width)) as boolean;
  }
}

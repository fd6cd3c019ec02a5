/** Pictures of pages, compared with those that were accepted last. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';

const ACCEPTED = join(import.meta.dirname, '../../fixtures/dashboard-pictures');

/** What a page looks like now, where it is not what was accepted. */
const CHANGED = join('test-results', 'dashboard-pictures');

/** Chromium draws letters alike on every machine so. */
export const PICTURE_SWITCHES = [
  '--font-render-hinting=none',
  '--disable-lcd-text',
  '--force-color-profile=srgb',
];

/** Nothing moves; one font that comes with Debian's Chromium; no instants, which are others each day. */
const STILL = `
  *, *::before, *::after { animation: none !important; transition: none !important; caret-color: transparent !important; }
  :root, button, input, select, textarea { font-family: "DejaVu Sans" !important; }
  time { visibility: hidden; }`;

/** Ids, tokens, folders and measured values, which are others in each run, become alike. Runs in the page. */
const ALIKE = `
  const alike = (text) => text
    .replace(/"\\/[^"]*"/g, '"/"')
    .replace(/[A-Za-z0-9_-]{6,}/g, (word) => /[\\d_]/.test(word) ? 'x'.repeat(10) : word)
    .replace(/…[A-Za-z0-9]{4}\\b/g, '…xxxx')
    .replace(/[\\d.,]+(?=\\s(ms|s|MB|GB)\\b)/g, '0');
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.data = alike(texts.currentNode.data);
  for (const field of document.querySelectorAll('input[readonly], textarea[readonly]')) field.value = alike(field.value);
`;

/** Largest difference of a colour, of 255, that counts as smoothing of edges. */
const COLOR_DIFFERENCE_MAX = 48;

/** Share of a picture's pixels that may differ: letters that are smoothed otherwise, not a button more. */
export const CHANGED_SHARE_MAX = 0.0005;

/** Runs in a page without a policy. Gives the share of pixels that differ; 1 where the sizes do. */
const COMPARE = `async ([one, other, differenceMax]) => {
  const pixelsOf = async (base64) => {
    const blob = await (await fetch('data:image/png;base64,' + base64)).blob();
    const { width, height } = await createImageBitmap(blob);
    const canvas = new OffscreenCanvas(width, height).getContext('2d');
    canvas.drawImage(await createImageBitmap(blob), 0, 0);
    return canvas.getImageData(0, 0, width, height);
  };
  const [a, b] = [await pixelsOf(one), await pixelsOf(other)];
  if (a.width !== b.width || a.height !== b.height) return 1;
  let changed = 0;
  for (let at = 0; at < a.data.length; at += 4) {
    if ([0, 1, 2].some((color) => Math.abs(a.data[at + color] - b.data[at + color]) > differenceMax)) changed += 1;
  }
  return changed / (a.width * a.height);
}`;

/** At a quarter of its size, which still shows the layout, in a sixteenth of the room. */
export const PICTURE_CONTEXT = {
  ...{ deviceScaleFactor: 0.25, locale: 'en-GB', timezoneId: 'UTC', bypassCSP: true },
  ...({ reducedMotion: 'reduce' } as const),
};

/** Compares pictures with the accepted ones. */
export class AcceptedPictures {
  readonly #comparer: Page;

  private constructor(comparer: Page) {
    this.#comparer = comparer;
  }

  static async open(browser: Browser): Promise<AcceptedPictures> {
    return new AcceptedPictures(await browser.newPage());
  }

  /** @returns the share of pixels that differ; 1 where none was accepted yet. */
  async changedShare(page: Page, name: string): Promise<number> {
    const picture = await pictureOf(page);
    const accepted = join(ACCEPTED, `${name}.png`);
    const share = existsSync(accepted)
      ? await this.#differenceOf(readFileSync(accepted), picture)
      : 1;
    if (share > CHANGED_SHARE_MAX) {
      mkdirSync(CHANGED, { recursive: true });
      writeFileSync(join(CHANGED, `${name}.png`), picture);
    }
    return share;
  }

  /** Makes what the page looks like now the accepted picture. */
  async accept(page: Page, name: string): Promise<void> {
    mkdirSync(ACCEPTED, { recursive: true });
    writeFileSync(join(ACCEPTED, `${name}.png`), await pictureOf(page));
  }

  async #differenceOf(one: Buffer, other: Buffer): Promise<number> {
    const pictures = [one, other].map((picture) => picture.toString('base64'));
    const parameters = JSON.stringify([...pictures, COLOR_DIFFERENCE_MAX]);
    return (await this.#comparer.evaluate(`(${COMPARE})(${parameters})`)) as number;
  }
}

/** What observers of sizes draw is there after the second. */
const TWO_FRAMES =
  'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))';

async function pictureOf(page: Page): Promise<Buffer> {
  await page.addStyleTag({ content: STILL });
  await page.evaluate(ALIKE);
  await page.evaluate('document.fonts.ready');
  await page.evaluate(TWO_FRAMES);
  return page.screenshot({ animations: 'disabled' });
}

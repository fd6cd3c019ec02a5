/** How evenly a browser draws a page: what a reader feels as stutter. */
import type { Page } from 'playwright-core';

/** A frame that came so late is seen. */
const LATE_MS = 50;

export interface Frames {
  readonly count: number;
  readonly late: number;
  readonly longestMs: number;
}

/** Counts frames while `deed` goes on. */
export async function framesWhile(page: Page, deed: () => Promise<unknown>): Promise<Frames> {
  await page.evaluate(`(() => {
    const gaps = [];
    let last = performance.now();
    const step = () => {
      const now = performance.now();
      gaps.push(now - last);
      last = now;
      window.framesAreCounted && requestAnimationFrame(step);
    };
    window.framesAreCounted = true;
    window.frameGaps = gaps;
    requestAnimationFrame(step);
  })()`);
  await deed();
  const gaps = (await page.evaluate(
    'window.framesAreCounted = false, window.frameGaps',
  )) as readonly number[];
  return {
    count: gaps.length,
    late: gaps.filter((gap) => gap > LATE_MS).length,
    longestMs: Math.max(0, ...gaps),
  };
}

/** Lighthouse on the dashboard's main pages, signed in, as on a desktop computer: at least 95 in every category. */
import { buildDashboard } from '../test/support/dashboard/dashboard-page.ts';
import {
  LighthouseBrowser,
  SCORED_PAGES,
  type Scores,
  seedPages,
} from '../test/support/dashboard/lighthouse.ts';
import { startServer } from '../test/support/server/server.ts';
import { checkTargets, markdownTable, numberArg, printJson, type Target } from './lib/harness.ts';

/** Of 100, in each category. */
const LOST_POINTS_MAX = 5;

interface Scored {
  readonly page: string;
  readonly scores: Scores['scores'];
}

/** `npm run bench -- lighthouse [--tries 3] [--gate]`: needs Chromium and a quiet machine; a page's quickest try counts. */
export async function run(args: readonly string[]): Promise<void> {
  buildDashboard();
  const server = await (await startServer()).ready();
  const addressOf = await seedPages(server);
  const browser = await LighthouseBrowser.signIn(server);
  const scored: Scored[] = [];
  try {
    for (const page of SCORED_PAGES) {
      const best = await bestOf(browser, addressOf(page), numberArg(args, 'tries', 3));
      printJson({ bench: 'lighthouse', page, ...best });
      scored.push({ page, scores: best.scores });
    }
  } finally {
    await browser.close();
    await server.stop();
  }
  console.log(markdownTable(scored.map(({ page, scores }) => ({ page, ...scores }))));
  checkTargets(args, scored.flatMap(targetsOf));
}

async function bestOf(browser: LighthouseBrowser, url: string, tries: number): Promise<Scores> {
  const found: Scores[] = [];
  for (let number = 0; number < tries; number += 1) found.push(await browser.scoresOf(url));
  const [best] = found.toSorted((one, other) => speedOf(other) - speedOf(one));
  if (best === undefined) throw new RangeError(`Cannot score "${url}": --tries must be 1 or more`);
  return best;
}

function speedOf({ scores }: Scores): number {
  return scores.performance ?? Number.NaN;
}

function targetsOf({ page, scores }: Scored): readonly Target[] {
  return Object.entries(scores).map(([category, score]) => ({
    ...{ name: `#/${page}: points lost in ${category}`, value: 100 - score },
    ...{ limit: LOST_POINTS_MAX, tolerance: 0 },
  }));
}

if (import.meta.main) await run(process.argv.slice(2));

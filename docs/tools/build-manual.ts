/** Builds the manual into `dist/manual` with Eleventy: at each start where its sources have changed, always with `--always`. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import type { EleventyConfig } from '@11ty/eleventy';
import {
  buildFailure,
  builtHash,
  filesBelow,
  hashOf,
  packTexts,
  replaceBuilt,
} from '../../src/cli/build-output.ts';
import { adaptTokens } from './manual-links.ts';
import { type ManualPage, type ManualPart, manualParts, START_URL } from './manual-pages.ts';

const ROOT = join(import.meta.dirname, '../..');
const SITE = join(import.meta.dirname, 'site');
const BUILT = join(ROOT, 'dist/manual');

function sourcesHash(pages: readonly ManualPage[]): string {
  const sources = pages.map(({ source }) => join(ROOT, source));
  const tools = filesBelow(import.meta.dirname);
  return hashOf(ROOT, [...tools, join(ROOT, 'docs/manual.json'), ...sources]);
}

/** @param fresh empty folder that the site is written into */
async function build(parts: readonly ManualPart[], fresh: string): Promise<void> {
  const { Eleventy } = await import('@11ty/eleventy');
  // Eleventy takes paths from the working directory only.
  process.chdir(ROOT);
  const eleventy = new Eleventy(relative(ROOT, SITE), relative(ROOT, fresh), {
    configPath: false,
    quietMode: true,
    config: (config) => describeSite(config, parts),
  });
  eleventy.disableLogger();
  await eleventy.write();
  const { buildSearch } = await import('./build-search.ts');
  await buildSearch(fresh);
  packTexts(fresh);
}

function describeSite(config: EleventyConfig, parts: readonly ManualPart[]): void {
  const pages = parts.flatMap((part) => part.pages);
  const urls = new Map(pages.map(({ source, url }) => [source, url]));
  config.setUseGitIgnore(false);
  config.addGlobalData('parts', parts);
  config.addPassthroughCopy({ [relative(ROOT, join(SITE, 'manual.css'))]: 'manual.css' });
  config.amendLibrary('md', (markdown) => {
    markdown.set({ html: false });
    markdown.core.ruler.push('manual', ({ tokens, env: { source } }) => {
      if (source !== undefined) adaptTokens(tokens, source, urls);
    });
  });
  for (const { source, url, title } of pages) {
    const text = readFileSync(join(ROOT, source), 'utf8');
    config.addTemplate(url.replace(/html$/, 'md'), text, dataOf({ source, url, title }));
  }
  const start = { source: 'docs/manual.json', url: START_URL, title: 'Manual' };
  config.addTemplate('index.md', '# Offhook: the manual', { ...dataOf(start), isStart: true });
}

function dataOf({ source, url, title }: ManualPage): Readonly<Record<string, unknown>> {
  // Relative, so that the site works below any path of a proxy.
  const root = posix.relative(dirname(url), '.');
  return {
    ...{ source, title, url, layout: 'page.njk', permalink: url },
    root: root === '' ? '' : `${root}/`,
    // The pages are Markdown alone: what looks like a template is text.
    templateEngineOverride: 'md',
  };
}

/** Prints one line on failure: the server then starts without the manual, or with the previous one. */
async function run(isAsked: boolean): Promise<string> {
  const before = builtHash(BUILT);
  const rest = before === undefined ? 'there is none' : 'the one built before is served';
  if (!existsSync(join(ROOT, 'docs/manual.json'))) return `Manual: no sources here; ${rest}`;
  try {
    const parts = manualParts(ROOT);
    const hash = sourcesHash(parts.flatMap(({ pages }) => pages));
    if (hash === before && !isAsked) return 'Manual: built already';
    const startedMs = performance.now();
    await replaceBuilt(BUILT, hash, (fresh) => build(parts, fresh));
    return `Manual: built in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`;
  } catch (error) {
    process.exitCode = isAsked ? 1 : 0;
    return `Manual: not built: ${buildFailure(error)}; ${rest}`;
  }
}

const line = await run(process.argv.includes('--always'));
process.stdout.write(`${line}\n`);

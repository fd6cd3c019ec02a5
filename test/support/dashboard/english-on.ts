/** Tells English texts from German ones, and finds them among the visible texts of a page. */
import type { Page } from 'playwright-core';

/**
 * Frequent English words that are no German ones, and that names seldom have. "was", "in", "an", "so", "am" and "also" are left
 * out, because German has them too.
 */
const ENGLISH =
  /(?<![\p{L}_])(?:the|is|are|of|and|with|for|from|that|this|which|has|have|been|cannot|does|not|only|its|it|at|by|no|or|until|while|than|after|before|their|there|they|you|your|be|can|could|may|must|will|would|answers|says|takes|uses|true|false|null)(?![\p{L}_])/u;

/** Names and commands in what the pages show, which stay as they are. */
const NAMES = /University of Edinburgh|set-ntp true/g;

/**
 * Visible texts, labels and titles of the page with an English word in them. Left out: code, and what is marked as English
 * (`lang="en"`).
 */
export async function englishOn(page: Page): Promise<readonly string[]> {
  const texts = (await page.evaluate(TEXTS)) as readonly string[];
  return [...new Set(texts.filter(isEnglish))];
}

/** Whether a text has an English word. */
export function isEnglish(text: string): boolean {
  return ENGLISH.test(text.replaceAll(NAMES, ''));
}

/** Runs in the page. */
const TEXTS = `(() => {
  const texts = [];
  const isLeftOut = (element) => element.closest('code, pre, script, style, [lang="en"]') !== null;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    const isSeen = element.closest('option') !== null || element.checkVisibility();
    if (isSeen && !isLeftOut(element)) texts.push(node.textContent.trim());
  }
  for (const element of document.querySelectorAll('[aria-label], [title], [placeholder]')) {
    if (isLeftOut(element)) continue;
    for (const name of ['aria-label', 'title', 'placeholder']) {
      texts.push(element.getAttribute(name) ?? '');
    }
  }
  return texts;
})()`;

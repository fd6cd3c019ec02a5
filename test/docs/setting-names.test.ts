/** Names in capitals that the pages mention are settings, error codes, or names of others that are listed here. */
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SETTINGS } from '../../src/config/config.ts';
import { ERROR_STATUS } from '../../src/domain/service-error.ts';

/** Variables and constants of other programs: FreeSWITCH's files, Ollama, compose, Node, ONNX Runtime, proxies, SRTP, tests. */
const OTHERS = [
  /^FREESWITCH_(RTP|EVENT|INNER|OUTER)_|^FREESWITCH_TRUSTED$/,
  /^(OLLAMA_(NUM_PARALLEL|FLASH_ATTENTION|MODELS)|COMPOSE_PROFILES|SQLITE_READONLY|MODEL_CARD)$/,
  /^(NODE_OPTIONS|NODE_COMPILE_CACHE|MALLOC_ARENA_MAX|ORT_DISABLE_TELEMETRY)$/,
  /^(HTTPS?_PROXY|NO_PROXY|NO_COLOR|REAL_CALLS|REAL_SECONDS|IGNORE_MARK_BIT|CLIENT_TIMEOUT|ACCEPT_PICTURES)$/,
  /^(AES_CM|AEAD_AES)_/,
  /^(OFFHOOK_KEY|OFFHOOK_URL|WEBHOOK_SECRET|NAME_FILE)$/,
];

const PAGES = globSync(['README.md', 'docs/**/*.md', 'sip-config/*.md', 'examples/**/*.md']);

function namesOf(page: string): readonly string[] {
  const text = readFileSync(page, 'utf8');
  return [...text.matchAll(/`([A-Z][A-Z0-9]*_[A-Z0-9_]+)(?:=[^`]*)?`/g)].map(
    ([, name = '']) => name,
  );
}

function isKnown(name: string): boolean {
  return (
    name.replace(/_FILE$/, '') in SETTINGS ||
    name in SETTINGS ||
    name in ERROR_STATUS ||
    OTHERS.some((other) => other.test(name))
  );
}

test('every setting that a page names is there', () => {
  const names = PAGES.flatMap((page) => namesOf(page).map((name) => ({ page, name })));

  expect(names.length).toBeGreaterThan(200);
  expect(names.filter(({ name }) => !isKnown(name))).toEqual([]);
});

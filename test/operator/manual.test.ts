/** `/manual`: what the build made is sent under a policy that lets nothing in from elsewhere, and nothing else is. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDashboardWorld } from '../support/dashboard/dashboard-world.ts';

const SETTINGS = '<!doctype html><title>Settings</title>';

async function openManual({ isBuilt = true } = {}) {
  const world = await openDashboardWorld();
  const folder = join(world.store.folder, 'manual');
  if (isBuilt) {
    mkdirSync(join(folder, 'reference'), { recursive: true });
    writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Manual</title>');
    writeFileSync(join(folder, 'manual.css'), 'a{}');
    writeFileSync(join(folder, '.sources'), 'a hash');
    writeFileSync(join(folder, 'reference/settings.html'), SETTINGS);
    writeFileSync(join(world.store.folder, 'secret.html'), 'outside');
    symlinkSync('/etc/hostname', join(folder, 'link.html'));
  }
  return (path: string, headers = {}) => world.api.request('GET', path, { key: null, headers });
}

test('GET /manual leads to /manual/, under any path that a proxy serves', async () => {
  const get = await openManual();

  const response = await get('/manual');

  expect([response.status, response.headers.get('Location')]).toEqual([308, 'manual/']);
});

test('GET /manual/ sends the start page, under a policy that allows its own files alone', async () => {
  const get = await openManual();

  const response = await get('/manual/');

  expect([response.status, await response.text()]).toEqual([
    200,
    expect.stringContaining('Manual'),
  ]);
  expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
  expect(response.headers.get('Cache-Control')).toBe('no-cache');
  expect(response.headers.get('Content-Security-Policy')).toBe(
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
});

test('GET /manual/ sends pages of sub-folders and the style sheet, and 304 for a known ETag', async () => {
  const get = await openManual();

  const page = await get('/manual/reference/settings.html');
  const style = await get('/manual/manual.css');
  const known = await get('/manual/reference/settings.html', {
    'If-None-Match': page.headers.get('ETag') ?? '',
  });

  expect([page.status, await page.text()]).toEqual([200, SETTINGS]);
  expect(style.headers.get('Content-Type')).toBe('text/css; charset=utf-8');
  expect([known.status, await known.text()]).toEqual([304, '']);
});

test.each([
  '/manual/../secret.html',
  '/manual/%2e%2e/secret.html',
  '/manual/..%2fsecret.html',
  '/manual/reference/..%2f..%2fsecret.html',
  '/manual/reference%2f..%2f..%2fsecret.html',
  '/manual/.sources',
  '/manual/link.html',
  '/manual/reference',
  '/manual/reference/',
  '/manual//etc/hostname',
  '/manual/none.html',
])('GET %s is 404', async (path) => {
  const get = await openManual();

  const response = await get(path);

  expect(response.status).toBe(404);
});

test('GET /manual/ says how to build the manual where there is none', async () => {
  const get = await openManual({ isBuilt: false });

  const response = await get('/manual/troubleshooting.html');

  expect(response.status).toBe(404);
  expect(await response.text()).toContain('The manual has not been built');
});

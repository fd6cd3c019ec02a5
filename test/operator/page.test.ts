/** The page's files: what is there is sent well, what is not there by name is not sent at all. */
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { HttpServer } from '../../src/api/http/http-server.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { openDashboardWorld } from '../support/dashboard/dashboard-world.ts';

const INDEX = '<!doctype html><title>Offhook</title>';
const DOCS = '<!doctype html><title>Offhook REST API</title>';
const SCRIPT = 'export const page = 1;\n'.repeat(100);

/** A world whose page has been built. */
async function openBuilt() {
  const world = await openDashboardWorld();
  build(world.pageFolder, INDEX);
  const get = (path: string, headers = {}, method = 'GET') =>
    world.api.request(method, path, { key: null, headers });
  return { ...world, get };
}

function build(folder: string, index: string): void {
  const assets = join(folder, 'assets');
  mkdirSync(assets, { recursive: true });
  writeFileSync(join(folder, 'index.html'), index);
  writeFileSync(join(folder, 'docs.html'), DOCS);
  writeFileSync(join(folder, '.sources'), 'a hash');
  writeFileSync(join(folder, 'secret.txt'), 'not named by the page');
  writeFileSync(join(assets, 'index-aB3_x.js'), SCRIPT);
  writeFileSync(join(assets, 'index-aB3_x.js.br'), brotliCompressSync(SCRIPT));
  writeFileSync(join(assets, 'index-aB3_x.js.gz'), gzipSync(SCRIPT));
  writeFileSync(join(assets, 'style-Xy.css'), 'a{}');
  writeFileSync(join(assets, '.hidden'), 'x');
  symlinkSync('/etc/hostname', join(assets, 'link.txt'));
}

test('GET / sends the page, with revalidation on each load, under a policy without inline code', async () => {
  const { get } = await openBuilt();

  const response = await get('/');

  const policy = response.headers.get('Content-Security-Policy') ?? '';
  expect([response.status, await response.text()]).toEqual([200, INDEX]);
  expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
  expect(response.headers.get('Cache-Control')).toBe('no-cache');
  expect(response.headers.get('X-Frame-Options')).toBe('DENY');
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain('unsafe');
});

test('GET /docs sends the API reference, under a policy that allows scripts of this server alone', async () => {
  const { get } = await openBuilt();

  const response = await get('/docs');

  const policy = response.headers.get('Content-Security-Policy') ?? '';
  expect([response.status, await response.text()]).toEqual([200, DOCS]);
  expect(policy).toContain("default-src 'none'; script-src 'self'; ");
  expect(policy).toContain("connect-src 'self'");
});

test('GET /docs/ leads to /docs, under any path that a proxy serves', async () => {
  const { get } = await openBuilt();

  const response = await get('/docs/');

  expect([response.status, response.headers.get('Location')]).toEqual([308, '../docs']);
});

test('GET /assets sends a file that may be kept for a year', async () => {
  const { get } = await openBuilt();

  const [script, style] = [await get('/assets/index-aB3_x.js'), await get('/assets/style-Xy.css')];

  expect(script.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable');
  expect(script.headers.get('Content-Type')).toBe('text/javascript; charset=utf-8');
  expect(script.headers.get('Content-Length')).toBe(String(SCRIPT.length));
  expect(await script.text()).toBe(SCRIPT);
  expect(style.headers.get('Content-Type')).toBe('text/css; charset=utf-8');
});

test.each([
  ['br, gzip', 'br'],
  ['gzip, deflate', 'gzip'],
  ['gzip;q=0.5, br;q=0', 'gzip'],
  ['BR', 'br'],
  ['identity', null],
  ['', null],
])('GET /assets for Accept-Encoding "%s" sends %s', async (accepted, expected) => {
  const { get } = await openBuilt();

  const response = await get('/assets/index-aB3_x.js', { 'Accept-Encoding': accepted });

  const bytes = Buffer.from(await response.arrayBuffer());
  const plain = { br: brotliDecompressSync, gzip: gunzipSync, none: (same: Buffer) => same };
  expect(response.headers.get('Content-Encoding')).toBe(expected);
  expect(response.headers.get('Vary')).toBe('Accept-Encoding');
  expect(plain[(expected ?? 'none') as keyof typeof plain](bytes).toString()).toBe(SCRIPT);
});

test('GET answers 304 to a current ETag, and each encoding has an ETag of its own', async () => {
  const { get } = await openBuilt();
  const path = '/assets/index-aB3_x.js';
  const plain = (await get(path)).headers.get('ETag') ?? '';
  const packed = (await get(path, { 'Accept-Encoding': 'br' })).headers.get('ETag') ?? '';

  const known = await get(path, { 'If-None-Match': `"x", W/${plain}` });
  const other = await get(path, { 'If-None-Match': packed });

  expect(plain).not.toBe(packed);
  expect([known.status, await known.text(), known.headers.get('ETag')]).toEqual([304, '', plain]);
  expect(other.status).toBe(200);
});

test('HEAD tells the same without a body', async () => {
  const { get } = await openBuilt();

  const response = await get('/assets/index-aB3_x.js', {}, 'HEAD');

  expect(response.headers.get('Content-Length')).toBe(String(SCRIPT.length));
  expect([response.status, await response.text()]).toEqual([200, '']);
});

test.each([
  '/assets/../.sources',
  '/assets/..%2f.sources',
  '/assets/%2e%2e%2f.sources',
  '/assets/%2e%2e/secret.txt',
  '/assets/..%5csecret.txt',
  '/assets/..%252f.sources',
  '/assets/....//secret.txt',
  '/assets//etc/passwd',
  '/assets/%2fetc%2fpasswd',
  '/assets/index-aB3_x.js%00.txt',
  '/assets/index-aB3_x.js/',
  '/assets/index-aB3_x.js.br',
  '/assets/.hidden',
  '/assets/link.txt',
  '/assets/__proto__',
  '/assets/constructor',
  '/assets/',
  '/assets',
  '/secret.txt',
  '/.sources',
  '/index.html',
  '/%00',
])('GET %s finds nothing, over a real connection', async (path) => {
  const { api } = await openBuilt();
  const server = new HttpServer({
    host: '127.0.0.1',
    port: 0,
    fetch: api.app.fetch,
    newId: () => 'req_0',
    clock: systemClock,
  });
  const port = await server.start();
  onTestFinished(() => server.stop());

  const status = await new Promise((resolve, reject) => {
    // As it is written: fetch would resolve the dots.
    const asked = request({ host: '127.0.0.1', port, path, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asked.on('error', reject);
    asked.end();
  });

  expect([400, 404]).toContain(status);
});

test('GET / says what to do where the page has not been built, and sends it once it has', async () => {
  const { api, pageFolder } = await openDashboardWorld();
  const get = () => api.request('GET', '/', { key: null });

  const before = await get();
  build(pageFolder, INDEX);
  const after = await get();
  writeFileSync(join(pageFolder, 'index.html'), 'another');
  utimesSync(join(pageFolder, 'index.html'), new Date(0), new Date(0));
  const afterwards = await get();

  expect([before.status, before.headers.get('Content-Type')]).toEqual([
    404,
    'text/html; charset=utf-8',
  ]);
  expect(await before.text()).toContain('npm run build');
  expect([after.status, await after.text()]).toEqual([200, INDEX]);
  expect(await afterwards.text()).toBe('another');
});

test('POST / and /assets know other methods only', async () => {
  const { get } = await openBuilt();

  const [page, asset] = [await get('/', {}, 'POST'), await get('/assets/x.js', {}, 'DELETE')];

  expect([page.status, page.headers.get('Allow')]).toEqual([404, 'GET, HEAD']);
  expect([asset.status, asset.headers.get('Allow')]).toEqual([404, 'GET, HEAD']);
});

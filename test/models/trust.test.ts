/** Sources of a file's expected hash, and files without any such source. */
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { downloadFile } from '../../src/model-store/download-file.ts';
import { downloadWorld, testSource } from './support/download-world.ts';
import { serveFile, sha256, someBytes, startModelServer, status } from './support/model-server.ts';

const BYTES = someBytes(5000);
test('downloadFile refuses a file without any checksum, and reads none of it', async () => {
  const { job, tools, folder, server } = await downloadWorld();

  const failed = downloadFile(job('/a.onnx', BYTES, { expected: null }), tools);

  await expect(failed).rejects.toMatchObject({ failure: 'unverified' });
  await expect(failed).rejects.toThrow('--allow-unverified');
  expect(existsSync(`${folder}/a.onnx`)).toBe(false);
  expect(server.seen).toEqual([]);
});

test('downloadFile takes a file without any checksum when it is told to', async () => {
  const { job, tools, read } = await downloadWorld({ allowUnverified: true });

  const outcome = await downloadFile(job('/a.onnx', BYTES, { expected: null }), tools);

  expect(outcome).toMatchObject({ state: 'downloaded', sha256: sha256(BYTES) });
  expect(read('a.onnx').equals(BYTES)).toBe(true);
});

test('downloadFile gives up on redirects without end', async () => {
  const { job, tools, server } = await downloadWorld();
  const wanted = job('/a.onnx', BYTES);
  server.instead.set(
    '/a.onnx',
    Array.from({ length: 50 }, () => status(302, { location: '/a.onnx' })),
  );

  await expect(downloadFile(wanted, tools)).rejects.toMatchObject({ failure: 'refused' });

  expect(server.seen.length).toBeLessThan(10);
});

test.each([
  'https://elsewhere.example/a',
  'http://127.0.0.1:1/a',
  'ftp://127.0.0.1/a',
  'http://user:pass@127.0.0.1/a',
  'http://[::bad/',
])('downloadFile does not follow a mirror to %s', async (location) => {
  const { job, tools, server } = await downloadWorld();
  const wanted = job('/a.onnx', BYTES);
  server.instead.set('/a.onnx', [status(307, { location })]);

  await expect(downloadFile(wanted, tools)).rejects.toMatchObject({ failure: 'refused' });
});

test('HttpSource tells its token to the server it is for, also after a redirect there, and to no other', async () => {
  const { job, tools, server } = await downloadWorld();
  const other = await startModelServer();
  const { source } = testSource({ origin: server.origin, token: 'hf_secret' });
  server.instead.set('/a.onnx', [status(302, { location: '/b.onnx' })]);
  server.files.set('/b.onnx', BYTES);
  other.files.set('/c.onnx', BYTES);
  const elsewhere = job('/c.onnx', BYTES, { url: `${other.origin}/c.onnx` });

  await downloadFile(job('/a.onnx', BYTES), { ...tools, source });
  await downloadFile(elsewhere, { ...tools, source });

  expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer hf_secret',
    'Bearer hf_secret',
  ]);
  expect(other.seen.map(({ headers }) => headers.authorization)).toEqual([undefined]);
});

test('downloadFile shows no token in what it says', async () => {
  const { job, tools, server } = await downloadWorld();
  const { source } = testSource({ origin: server.origin, token: 'hf_secret' });
  server.instead.set('/a.onnx', [(request, response) => serveFile(request, response, undefined)]);

  const error = await downloadFile(job('/a.onnx', BYTES), { ...tools, source }).catch(
    (failure: unknown) => failure,
  );

  expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('hf_secret');
  expect(String(error)).not.toContain('hf_secret');
});

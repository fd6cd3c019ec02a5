/** Who may say what a file should be, and what becomes of files that nobody vouches for. */
import { existsSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { downloadFile } from '../../src/model-store/download-file.ts';
import { downloadWorld, testSource } from './support/download-world.ts';
import {
  gitSha1,
  type Handler,
  serveFile,
  sha256,
  someBytes,
  startModelServer,
  status,
} from './support/model-server.ts';

const BYTES = someBytes(5000);
const COMMIT = 'a'.repeat(40);

/** Answers as the hub does for a large file: its checksum, and the way to another server. */
function hubRedirect(bytes: Buffer, location: string, changes: object = {}): Handler {
  return status(302, {
    location,
    'x-repo-commit': COMMIT,
    'x-linked-size': String(bytes.length),
    'x-linked-etag': `"${sha256(bytes)}"`,
    ...changes,
  });
}

test('downloadFile takes the checksum that the hub declares, where the list has none', async () => {
  const { job, tools, server, read } = await downloadWorld();
  const wanted = job('/a.onnx', BYTES, { expected: null, revision: COMMIT });
  server.files.set('/cdn', BYTES);
  server.instead.set('/a.onnx', [hubRedirect(BYTES, '/cdn')]);

  const outcome = await downloadFile(wanted, tools);

  expect(outcome).toMatchObject({ trust: 'server', sha256: sha256(BYTES) });
  expect(read('a.onnx').equals(BYTES)).toBe(true);
});

test('downloadFile holds the bytes to the checksum that the hub declares', async () => {
  const { job, tools, server, folder } = await downloadWorld();
  const wanted = job('/a.onnx', BYTES, { expected: null });
  server.files.set('/cdn', someBytes(5000, 2));
  server.instead.set('/a.onnx', [hubRedirect(BYTES, '/cdn')]);

  await expect(downloadFile(wanted, tools)).rejects.toMatchObject({ failure: 'wrong-content' });

  expect(readdirSync(folder)).toEqual([]);
});

test.each([
  ['right', BYTES, true],
  ['wrong', someBytes(5000, 2), false],
])('downloadFile checks a small file of the hub by its git blob: %s', async (_, sent, isRight) => {
  const { job, tools, server, folder } = await downloadWorld();
  const wanted = job('/config.json', BYTES, { expected: null });
  server.instead.set('/config.json', [
    (_request, response) => {
      const headers = { etag: `"${gitSha1(BYTES)}"`, 'x-repo-commit': COMMIT };
      response.writeHead(200, { ...headers, 'content-length': sent.length }).end(sent);
    },
  ]);

  const outcome = await downloadFile(wanted, tools).catch((error: unknown) => error);

  expect(outcome).toMatchObject(isRight ? { trust: 'server' } : { failure: 'wrong-content' });
  expect(existsSync(`${folder}/config.json`)).toBe(isRight);
});

test('downloadFile refuses a file without any checksum, and reads none of it', async () => {
  const { job, tools, folder } = await downloadWorld();

  const failed = downloadFile(job('/a.onnx', BYTES, { expected: null }), tools);

  await expect(failed).rejects.toMatchObject({ failure: 'unverified' });
  await expect(failed).rejects.toThrow('--allow-unverified');
  expect(existsSync(`${folder}/a.onnx`)).toBe(false);
});

test('downloadFile takes an ETag of any other server for no checksum', async () => {
  const { job, tools, server } = await downloadWorld();
  server.instead.set('/a.onnx', [
    (_request, response) => {
      const headers = { etag: `"${gitSha1(BYTES)}"`, 'content-length': BYTES.length };
      response.writeHead(200, headers).end(BYTES);
    },
  ]);

  const failed = downloadFile(job('/a.onnx', BYTES, { expected: null }), tools);

  await expect(failed).rejects.toMatchObject({ failure: 'unverified' });
});

test('downloadFile takes a file without any checksum when it is told to', async () => {
  const { job, tools, read } = await downloadWorld({ allowUnverified: true });

  const outcome = await downloadFile(job('/a.onnx', BYTES, { expected: null }), tools);

  expect(outcome).toMatchObject({ trust: 'nobody', sha256: sha256(BYTES) });
  expect(read('a.onnx').equals(BYTES)).toBe(true);
});

test('downloadFile stops at once when the hub declares another checksum than was promised', async () => {
  const { job, tools, server } = await downloadWorld();
  const wanted = job('/a.onnx', BYTES);
  const other = someBytes(5000, 4);
  server.files.set('/cdn', other);
  server.instead.set('/a.onnx', [hubRedirect(other, '/cdn')]);

  await expect(downloadFile(wanted, tools)).rejects.toThrow(
    `the server has a file with SHA-256 ${sha256(other)}`,
  );
});

test('downloadFile refuses an answer for another commit than was asked for', async () => {
  const { job, tools, server } = await downloadWorld();
  const wanted = job('/a.onnx', BYTES, { expected: null, revision: 'b'.repeat(40) });
  server.files.set('/cdn', BYTES);
  server.instead.set('/a.onnx', [hubRedirect(BYTES, '/cdn')]);

  await expect(downloadFile(wanted, tools)).rejects.toThrow(COMMIT);
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

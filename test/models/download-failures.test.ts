/** Servers that fail, lie, stand still or say no. */
import { existsSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { downloadFile } from '../../src/model-store/download-file.ts';
import { downloadWorld, SHORT_LIMITS } from './support/download-world.ts';
import { sha256, someBytes, status } from './support/model-server.ts';

const BYTES = someBytes(200_000);

test('downloadFile keeps nothing of a file with the wrong checksum, and says what came', async () => {
  const { job, tools, server, folder } = await downloadWorld();
  const wanted = job('/a.onnx', BYTES);
  const other = someBytes(BYTES.length, 3);
  server.files.set('/a.onnx', other);

  const failed = downloadFile(wanted, tools);

  await expect(failed).rejects.toMatchObject({ failure: 'wrong-content' });
  await expect(failed).rejects.toThrow(sha256(other));
  await expect(failed).rejects.toThrow('a.onnx');
  expect(readdirSync(folder)).toEqual([]);
});

test('downloadFile stops reading a file that is longer than promised', async () => {
  const { job, tools, server, folder } = await downloadWorld();
  const wanted = job('/a.onnx', BYTES);
  let sent = 0;
  server.instead.set('/a.onnx', [
    (_request, response) => {
      response.writeHead(200);
      const more = () => {
        sent += 1;
        if (sent < 10_000) response.write(BYTES, more);
      };
      more();
    },
  ]);

  await expect(downloadFile(wanted, tools)).rejects.toMatchObject({ failure: 'wrong-content' });

  expect(sent).toBeLessThan(1000);
  expect(readdirSync(folder)).toEqual([]);
});

test('downloadFile goes on after a body that ends early without a word', async () => {
  const { job, tools, server, read } = await downloadWorld();
  const wanted = job('/a.onnx', BYTES);
  server.instead.set('/a.onnx', [
    (_request, response) => {
      response.writeHead(200, { 'transfer-encoding': 'chunked' }).end(BYTES.subarray(0, 70_000));
    },
  ]);

  await downloadFile(wanted, tools);

  expect(server.seen[1]?.headers.range).toBe('bytes=70000-');
  expect(read('a.onnx').equals(BYTES)).toBe(true);
});

test('downloadFile goes on after a server that stands still', async () => {
  const { job, tools, server, read, notes } = await downloadWorld();
  const wanted = job('/a.onnx', BYTES);
  server.instead.set('/a.onnx', [
    (_request, response) => {
      response.writeHead(200, { 'content-length': BYTES.length, etag: '"x"' });
      response.write(BYTES.subarray(0, 10));
    },
    () => undefined,
  ]);
  const limits = { ...SHORT_LIMITS, stallMs: 300, failuresMax: 20 };

  await downloadFile(wanted, { ...tools, limits });

  const stalls = notes.filter((note) => note.includes('nothing came for'));
  expect(stalls.length).toBeGreaterThanOrEqual(2);
  expect(read('a.onnx').equals(BYTES)).toBe(true);
});

test('downloadFile asks again after 503, and waits as long as Retry-After says', async () => {
  const { job, tools, server } = await downloadWorld();
  const wanted = job('/a.onnx', BYTES);
  server.instead.set('/a.onnx', [status(503), status(429, { 'retry-after': '1' })]);

  const beganAtMs = performance.now();
  await downloadFile(wanted, tools);

  expect(server.seen).toHaveLength(3);
  expect(performance.now() - beganAtMs).toBeGreaterThan(990);
});

test('downloadFile gives up on a server that asks for more patience than there is', async () => {
  const { job, tools, server } = await downloadWorld();
  const wanted = job('/a.onnx', BYTES);
  server.instead.set('/a.onnx', [status(429, { 'retry-after': '86400' })]);

  const failed = downloadFile(wanted, tools);

  await expect(failed).rejects.toMatchObject({ failure: 'network' });
  await expect(failed).rejects.toThrow('429');
});

test('downloadFile gives up after so many failures in a row', async () => {
  const { job, tools, server } = await downloadWorld();
  const wanted = job('/a.onnx', BYTES);
  server.instead.set(
    '/a.onnx',
    Array.from({ length: 9 }, () => status(500)),
  );

  await expect(downloadFile(wanted, tools)).rejects.toMatchObject({ failure: 'network' });

  expect(server.seen).toHaveLength(4);
});

test('downloadFile gives up at once on a server that says no, and says what to do', async () => {
  const { job, tools, server } = await downloadWorld();
  const wanted = job('/a.onnx', BYTES);
  server.instead.set('/a.onnx', [status(401)]);
  await expect(downloadFile(wanted, tools)).rejects.toThrow('HF_TOKEN');
  server.files.clear();

  const failed = downloadFile(wanted, tools);

  await expect(failed).rejects.toMatchObject({ failure: 'refused' });
  await expect(failed).rejects.toThrow('404');
  expect(server.seen).toHaveLength(2);
});

test('downloadFile says that nothing listens there', async () => {
  const { job, tools, server, folder } = await downloadWorld();
  const wanted = job('/a.onnx', BYTES);
  await server.stop();

  const failed = downloadFile(wanted, tools);

  await expect(failed).rejects.toThrow('nothing listens there');
  await expect(failed).rejects.toMatchObject({ failure: 'network' });
  expect(existsSync(`${folder}/a.onnx`)).toBe(false);
});

test('downloadFile refuses a compressed body that it did not ask for', async () => {
  const { job, tools, server } = await downloadWorld();
  const wanted = job('/a.onnx', BYTES);
  server.instead.set('/a.onnx', [status(200, { 'content-encoding': 'gzip' })]);

  await expect(downloadFile(wanted, tools)).rejects.toMatchObject({ failure: 'refused' });

  expect(server.seen[0]?.headers['accept-encoding']).toBe('identity');
});

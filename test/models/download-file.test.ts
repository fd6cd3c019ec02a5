import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { downloadFile } from '../../src/model-store/download-file.ts';
import { downloadWorld } from './support/download-world.ts';
import { cutAfter, serveFile, sha256, someBytes, status } from './support/model-server.ts';

const BYTES = someBytes(200_000);

test('downloadFile puts the whole, verified file in its place, and leaves no other file there', async () => {
  const { job, tools, folder, read } = await downloadWorld();

  const outcome = await downloadFile(job('/a.onnx', BYTES), tools);

  expect(outcome).toEqual({
    state: 'downloaded',
    sha256: sha256(BYTES),
    bytes: BYTES.length,
  });
  expect(read('a.onnx').equals(BYTES)).toBe(true);
  expect(readdirSync(folder)).toEqual(['a.onnx']);
});

test('downloadFile sends no request for a file that is there and verified', async () => {
  const { job, tools, server } = await downloadWorld();
  await downloadFile(job('/a.onnx', BYTES), tools);

  const outcome = await downloadFile(job('/a.onnx', BYTES), tools);

  expect(outcome.state).toBe('was-there');
  expect(server.seen).toHaveLength(1);
});

test('downloadFile replaces a file that is there and damaged', async () => {
  const { job, tools, read, notes } = await downloadWorld();
  const wanted = job('/a.onnx', BYTES);
  writeFileSync(wanted.file, someBytes(BYTES.length, 7));

  await downloadFile(wanted, tools);

  expect(read('a.onnx').equals(BYTES)).toBe(true);
  expect(notes.join()).toContain('damaged');
});

test('downloadFile goes on where a cut connection stopped', async () => {
  const { job, tools, server, read, begun } = await downloadWorld();
  const wanted = job('/a.onnx', BYTES);
  server.instead.set('/a.onnx', [cutAfter(BYTES, 120_000, begun)]);

  await downloadFile(wanted, tools);

  expect(read('a.onnx').equals(BYTES)).toBe(true);
  expect(server.seen.map(({ headers }) => headers.range)).toEqual([
    undefined,
    expect.stringMatching(/^bytes=[1-9]\d*-$/),
  ]);
});

test('downloadFile stopped by the operator leaves a part, and the next run goes on with it', async () => {
  const { job, tools, server, stopping, read, folder } = await downloadWorld();
  const wanted = job('/a.onnx', BYTES);
  server.instead.set('/a.onnx', [
    (_request, response) => {
      response.writeHead(200, { 'content-length': BYTES.length, etag: '"x"' });
      response.write(BYTES.subarray(0, 50_000));
    },
  ]);
  const stopped = downloadFile(wanted, {
    ...tools,
    onBytes: (_job, bytes) => bytes === 50_000 && stopping.abort(),
  });
  await expect(stopped).rejects.toMatchObject({ failure: 'cancelled' });
  expect(readdirSync(folder).sort()).toEqual(['a.onnx.part']);

  await downloadFile(wanted, { ...tools, signal: new AbortController().signal });

  expect(server.seen[1]?.headers.range).toBe('bytes=50000-');
  expect(read('a.onnx').equals(BYTES)).toBe(true);
  expect(readdirSync(folder)).toEqual(['a.onnx']);
});

test('downloadFile starts over if the server does not support ranges', async () => {
  const { job, tools, server, read, notes, begun } = await downloadWorld();
  const wanted = job('/a.onnx', BYTES);
  server.instead.set('/a.onnx', [
    cutAfter(BYTES, 120_000, begun),
    (request, response) => {
      delete request.headers.range;
      serveFile(request, response, BYTES);
    },
  ]);

  await downloadFile(wanted, tools);

  expect(read('a.onnx').equals(BYTES)).toBe(true);
  expect(notes.join()).toContain('sends it from the beginning');
});

test('downloadFile starts over, once, if the joined parts fail verification', async () => {
  const { job, tools, server, read } = await downloadWorld();
  const wanted = job('/a.onnx', BYTES);
  mkdirSync(dirname(wanted.file), { recursive: true });
  writeFileSync(`${wanted.file}.part`, someBytes(90_000, 9));

  await downloadFile(wanted, tools);

  expect(server.seen.map(({ headers }) => headers.range)).toEqual(['bytes=90000-', undefined]);
  expect(read('a.onnx').equals(BYTES)).toBe(true);
});

test('downloadFile starts over if a 206 has another range', async () => {
  const { job, tools, server, read } = await downloadWorld();
  const wanted = job('/a.onnx', BYTES);
  writeFileSync(`${wanted.file}.part`, BYTES.subarray(0, 1000));
  server.instead.set('/a.onnx', [
    (_request, response) => {
      const range = `bytes 0-${BYTES.length - 1}/${BYTES.length}`;
      response.writeHead(206, { 'content-range': range }).end(BYTES);
    },
  ]);

  await downloadFile(wanted, tools);

  expect(read('a.onnx').equals(BYTES)).toBe(true);
});

test('downloadFile takes a part that is the whole file, on a 416', async () => {
  const { job, tools, server, read } = await downloadWorld();
  const wanted = job('/a.onnx', BYTES);
  writeFileSync(`${wanted.file}.part`, BYTES);

  await downloadFile(wanted, tools);

  expect(server.seen).toHaveLength(1);
  expect(read('a.onnx').equals(BYTES)).toBe(true);
});

test('downloadFile refuses a 416 where it asked for the whole file', async () => {
  const { job, tools, server } = await downloadWorld();
  const wanted = { ...job('/a.onnx', BYTES), expected: null };
  server.instead.set('/a.onnx', [status(416)]);

  const failure = downloadFile(wanted, { ...tools, allowUnverified: true });

  await expect(failure).rejects.toMatchObject({ failure: 'refused' });
  expect(existsSync(wanted.file)).toBe(false);
});

test('downloadFile says what it cannot read, where something else lies in its place', async () => {
  const { job, tools } = await downloadWorld();
  const wanted = job('/a.onnx', BYTES);
  mkdirSync(wanted.file, { recursive: true });

  await expect(downloadFile(wanted, tools)).rejects.toMatchObject({ failure: 'disk' });
});

test('downloadFile drops a part that is longer than the file', async () => {
  const { job, tools, server } = await downloadWorld();
  const wanted = job('/a.onnx', BYTES);
  writeFileSync(`${wanted.file}.part`, Buffer.concat([BYTES, BYTES]));

  await downloadFile(wanted, tools);

  expect(server.seen[0]?.headers.range).toBeUndefined();
});

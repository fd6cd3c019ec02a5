/** Documents read in processes of their own: their text, and hostile documents. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import type { KnowledgeType } from '../../src/domain/knowledge/knowledge.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { DocumentReaders } from '../../src/tool/knowledge/document-readers.ts';
import { buildPdf } from '../support/knowledge/build-pdf.ts';

function openReaders(options: { readonly readMsMax?: number } = {}) {
  const readers = new DocumentReaders({ clock: systemClock, ...options });
  onTestFinished(() => readers.stop());
  const read = (content: string | Buffer, mediaType: KnowledgeType) =>
    readers.read({ bytes: new Uint8Array(Buffer.from(content)), mediaType });
  return { readers, read };
}

const PDF = buildPdf([[[11, 700, 'We open at nine.']]]);

test('each kind of document gives its text', async () => {
  const { read } = openReaders();

  expect(await read(PDF, 'application/pdf')).toBe('We open at nine.');
  expect(await read('\uFEFF# Tea\n', 'text/markdown')).toBe('# Tea\n');
  expect(await read('<h1>Caff&egrave;</h1>', 'text/html')).toBe('# Caffè');
  const latin = Buffer.from('<meta charset="iso-8859-1"><p>Caff\xE8', 'latin1');
  expect(await read(latin, 'text/html')).toBe('Caffè');
});

test.each([
  ['no PDF', 'Hello', 'application/pdf', 'it is no PDF, or is damaged'],
  ['an empty PDF', '', 'application/pdf', 'it is no PDF'],
  ['another encoding', Buffer.from([0x43, 0xe8, 0x21]), 'text/plain', 'not written in UTF-8'],
  ['a program', 'MZ\0\0', 'text/plain', 'it is no text'],
  ['an unknown encoding', '<meta charset="klingon">', 'text/html', 'klingon'],
] as const)('%s is refused with the reason', async (_case, content, mediaType, reason) => {
  const { read } = openReaders();

  const failure = await read(content, mediaType).catch((error: unknown) => error);

  expect(failure).toMatchObject({ code: 'UNPROCESSABLE' });
  expect(String(failure)).toContain(reason);
});

test('a PDF that takes too long ends with its process, and the next one is read', async () => {
  const { read } = openReaders({ readMsMax: 6000 });
  const words = Buffer.from('BT /F1 9 Tf 72 700 Td () Tj ET\n'.repeat(30_000));
  const busy = buildPdf(Array(500).fill([]), { stream: words, isFlate: true });

  const hostile = read(busy, 'application/pdf').catch((error: unknown) => error);

  expect(String(await hostile)).toMatch(/takes longer than 6 s|too much memory/);
  expect(await read(PDF, 'application/pdf').catch(String)).toBe('We open at nine.');
});

test('a PDF that unpacks into gigabytes ends with its process, and this one stays small', async () => {
  const { read } = openReaders();
  const bomb = buildPdf([[]], { stream: Buffer.alloc(900_000_000, ' '), isFlate: true });
  const beforeBytes = process.memoryUsage.rss();

  const failure = await read(bomb, 'application/pdf').catch((error: unknown) => error);

  expect(bomb.length).toBeLessThan(1_000_000);
  expect(String(failure)).toContain('too much memory');
  expect(process.memoryUsage.rss() - beforeBytes).toBeLessThan(100_000_000);
});

test('a damaged PDF gives a text or an error, whatever is wrong with it', async () => {
  const program = fileURLToPath(new URL('../support/knowledge/damaged-pdfs.ts', import.meta.url));

  const { stdout } = await promisify(execFile)(process.execPath, [program, '400'], {
    timeout: 60_000,
  });

  expect(stdout).toMatch(/^400 read: [1-9]\d* texts, [1-9]\d* errors\n$/);
}, 90_000);

test('four files wait, and a fifth is refused at once', async () => {
  const { read } = openReaders();
  const waiting = Array.from({ length: 4 }, () => read(PDF, 'application/pdf'));

  await expect(read(PDF, 'application/pdf')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });

  expect(await Promise.all(waiting)).toEqual(Array(4).fill('We open at nine.'));
});

test('a stop ends the process that reads, and those that wait', async () => {
  const { readers, read } = openReaders();
  const reads = [read(PDF, 'application/pdf'), read(PDF, 'application/pdf')];
  const outcomes = Promise.allSettled(reads);

  await new Promise((resolve) => setImmediate(resolve));
  readers.stop();
  readers.stop();

  for (const outcome of await outcomes) {
    expect(outcome).toMatchObject({ reason: { code: 'SERVICE_UNAVAILABLE' } });
  }
});

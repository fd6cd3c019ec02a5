/** Archives that were damaged, or made to do harm: refused whole. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ModelsError } from '../../src/model-store/models-error.ts';
import { bundleOf, FILES, GOOD, LISTS, madeBundle, unpack } from './support/bundles.ts';
import { temporaryFolder } from './support/download-world.ts';
import { sha256, someBytes } from './support/model-server.ts';
import { type TarEntry, tarOf } from './support/tars.ts';

const EVIL: readonly (readonly [string, readonly TarEntry[]])[] = [
  ['a path out of the folder', [{ path: '../../etc/cron.d/x', bytes: Buffer.from('x') }]],
  ['an absolute path', [{ path: '/etc/cron.d/x', bytes: Buffer.from('x') }]],
  ['a path with .. in the middle', [{ path: 'stt/asr/../../../x', bytes: Buffer.from('x') }]],
  ['a path with a backslash', [{ path: 'stt\\..\\x', bytes: Buffer.from('x') }]],
  ['a symbolic link', [{ path: 'stt/asr', type: '2', linkTo: '/etc' }]],
  ['a hard link', [{ path: 'stt/asr/a.json', type: '1', linkTo: '/etc/passwd' }]],
  ['a device', [{ path: 'stt/asr/a.json', type: '3' }]],
  ['a pipe', [{ path: 'stt/asr/a.json', type: '6' }]],
  [
    'an extended header that leads elsewhere',
    [
      { path: 'x', type: 'x', bytes: Buffer.from('19 path=../../../x\n') },
      { path: 'stt/asr/y', bytes: Buffer.from('x') },
    ],
  ],
  [
    'a long name that leads elsewhere',
    [
      { path: 'x', type: 'L', bytes: Buffer.from('../../../x') },
      { path: 'stt/asr/y', bytes: Buffer.from('x') },
    ],
  ],
  ['a file that is not in the list', [{ path: 'stt/asr/run.sh', bytes: Buffer.from('x') }]],
  ['a file that is there twice', [GOOD[0] as TarEntry]],
  ['a length beyond the end', [{ path: 'stt/asr/x', size: 10_000_000 }]],
];

test.each(EVIL)('unpackBundle refuses %s, and unpacks nothing at all', async (_, evil) => {
  const modelsDir = temporaryFolder();

  const failed = unpack(bundleOf([...LISTS, ...GOOD, ...evil]), modelsDir);

  await expect(failed).rejects.toMatchObject({ failure: 'wrong-content' });
  expect(readdirSync(modelsDir)).toEqual([]);
});

test.each([
  '1',
  '2',
  '3',
  '4',
  '6',
])('unpackBundle takes nothing of type %s for a file, though its place is in the list', async (type) => {
  const entry = { path: 'stt/asr/a.json', type, ...(type > '2' ? {} : { linkTo: '/etc/passwd' }) };

  const failed = unpack(bundleOf([...LISTS, entry]), temporaryFolder());

  await expect(failed).rejects.toThrow('"stt/asr/a.json" in it is not a file');
});

test('unpackBundle refuses an archive with a damaged header', async () => {
  const modelsDir = temporaryFolder();
  const [first, ...others] = GOOD as [TarEntry, ...TarEntry[]];

  const failed = unpack(bundleOf([...LISTS, { ...first, isDamaged: true }, ...others]), modelsDir);

  await expect(failed).rejects.toThrow('damaged');
  expect(readdirSync(modelsDir)).toEqual([]);
});

test.each([
  ['without a list of models', [LISTS[1] as TarEntry, ...GOOD]],
  ['without checksums', [LISTS[0] as TarEntry, ...GOOD]],
])('unpackBundle refuses an archive %s', async (_, entries) => {
  const failed = unpack(bundleOf(entries), temporaryFolder());

  await expect(failed).rejects.toThrow('--offline-bundle');
});

test('unpackBundle refuses what is no tar, and a packed one', async () => {
  const bundle = join(temporaryFolder(), 'models.tar.gz');
  writeFileSync(bundle, Buffer.concat([Buffer.from([0x1f, 0x8b]), someBytes(5000)]));

  await expect(unpack(bundle, temporaryFolder())).rejects.toThrow('not a tar');
});

test('unpackBundle keeps no file with the wrong checksum, and what was there stays', async () => {
  const modelsDir = temporaryFolder();
  await unpack(await madeBundle(), modelsDir);
  const wrong = { path: 'stt/asr/c.bin', bytes: someBytes(1024, 66) };

  const failed = unpack(bundleOf([...LISTS, wrong]), modelsDir);

  await expect(failed).rejects.toThrow(sha256(wrong.bytes));
  expect(readFileSync(join(modelsDir, 'stt/asr/c.bin')).equals(FILES['c.bin'])).toBe(true);
  expect(readdirSync(join(modelsDir, 'stt/asr')).sort()).toEqual(['a.json', 'c.bin', 'onnx']);
});

test('unpackBundle survives any damage to an archive: what it lets through is right', async () => {
  const whole = tarOf([...LISTS, ...GOOD]);
  const damage = fc.array(
    fc.record({
      at: fc.nat(whole.length - 1),
      byte: fc.nat(255),
      length: fc.integer({ min: 1, max: 64 }),
    }),
    { minLength: 1, maxLength: 4 },
  );

  await fc.assert(
    fc.asyncProperty(damage, fc.nat(whole.length), fc.boolean(), async (blows, cutAt, isCut) => {
      const bytes = Buffer.from(whole);
      for (const { at, byte, length } of blows)
        bytes.fill(byte, at, Math.min(whole.length, at + length));
      const bundle = join(temporaryFolder(), 'damaged.tar');
      writeFileSync(bundle, isCut ? bytes.subarray(0, cutAt) : bytes);
      const modelsDir = temporaryFolder();

      const error = await unpack(bundle, modelsDir).catch((failure: unknown) => failure);

      if (error instanceof Error) expect(error).toBeInstanceOf(ModelsError);
      for (const [path, wanted] of Object.entries(FILES)) {
        const file = join(modelsDir, 'stt/asr', path);
        if (existsSync(file)) expect(readFileSync(file).equals(wanted)).toBe(true);
      }
    }),
    { numRuns: 60 },
  );
});

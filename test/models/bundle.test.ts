/** One archive for a machine without internet: made here, unpacked there. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeBundle } from '../../src/model-store/bundle.ts';
import { planFiles } from '../../src/model-store/model-files.ts';
import { LOCK_FILE, ModelLock } from '../../src/model-store/model-lock.ts';
import {
  bundleOf,
  FILES,
  LISTS,
  MANIFEST_TEXT,
  MODEL,
  madeBundle,
  unpack,
} from './support/bundles.ts';
import { temporaryFolder } from './support/download-world.ts';
import { testManifest } from './support/manifests.ts';
import { sha256, someBytes } from './support/model-server.ts';
import type { TarEntry } from './support/tars.ts';

test('what writeBundle makes, unpackBundle brings back, byte for byte, and notes it', async () => {
  const bundle = await madeBundle();
  const modelsDir = temporaryFolder();

  const { places, notes } = await unpack(bundle, modelsDir);

  expect(places).toHaveLength(3);
  expect(notes).toEqual([]);
  for (const [path, bytes] of Object.entries(FILES)) {
    expect(readFileSync(join(modelsDir, 'stt/asr', path)).equals(bytes)).toBe(true);
  }
  const noted = JSON.parse(readFileSync(join(modelsDir, LOCK_FILE), 'utf8'));
  expect(noted.files['stt/asr/a.json']).toMatchObject({ trust: 'manifest' });
  expect(readdirSync(join(modelsDir, 'stt/asr')).sort()).toEqual(['a.json', 'c.bin', 'onnx']);
});

test('what writeBundle makes is a tar that tar can read, with the two lists first', async () => {
  const { stdout, status } = spawnSync('tar', ['-tf', await madeBundle()], { encoding: 'utf8' });

  expect(status).toBe(0);
  expect(stdout.trim().split('\n')).toEqual([
    'manifest.json',
    'models.lock.json',
    'stt/asr/a.json',
    'stt/asr/onnx/b.onnx',
    'stt/asr/c.bin',
  ]);
});

test('unpackBundle takes an archive that tar made', async () => {
  const from = temporaryFolder();
  await unpack(await madeBundle(), from);
  writeFileSync(join(from, 'manifest.json'), MANIFEST_TEXT);
  const bundle = join(temporaryFolder(), 'by-tar.tar');
  const names = ['manifest.json', 'models.lock.json', './stt'];
  expect(spawnSync('tar', ['-cf', bundle, '-C', from, ...names]).status).toBe(0);

  const { places } = await unpack(bundle, temporaryFolder());

  expect(places).toHaveLength(3);
});

test('writeBundle makes the same bytes from the same files', async () => {
  const modelsDir = temporaryFolder();
  await unpack(await madeBundle(), modelsDir);
  const lock = await ModelLock.load(modelsDir);
  const files = planFiles([MODEL], { modelsDir, lock, mirror: null });
  const { signal } = new AbortController();
  const bundles = ['1.tar', '2.tar'].map((name) => join(temporaryFolder(), name));

  for (const bundle of bundles) {
    const onBytes = () => undefined;
    await writeBundle({ bundle, modelsDir, files, manifest: MANIFEST_TEXT, lock, signal, onBytes });
  }

  const [first, second] = bundles.map((bundle) => sha256(readFileSync(bundle)));
  expect(first).toBe(second);
});

test('writeBundle leaves no archive behind when a file is damaged', async () => {
  const modelsDir = temporaryFolder();
  await unpack(await madeBundle(), modelsDir);
  writeFileSync(join(modelsDir, 'stt/asr/c.bin'), someBytes(1024, 9));
  const lock = await ModelLock.load(modelsDir);
  const folder = temporaryFolder();

  const failed = writeBundle({
    bundle: join(folder, 'models.tar'),
    modelsDir,
    files: planFiles([MODEL], { modelsDir, lock, mirror: null }),
    manifest: MANIFEST_TEXT,
    lock,
    signal: new AbortController().signal,
    onBytes: () => undefined,
  });

  await expect(failed).rejects.toThrow('stt/asr/c.bin');
  expect(readdirSync(folder)).toEqual([]);
});

test('unpackBundle takes a checksum of the archive where our list has none, and says so', async () => {
  const open = { ...MODEL, files: [{ path: 'a.json', bytes: null, sha256: null }] };
  const entry = {
    sha256: sha256(FILES['a.json']),
    bytes: 100,
    trust: 'server',
    revision: 'v1',
    url: 'https://models.example/asr/a.json',
    at: '2026-01-01T00:00:00.000Z',
  };
  const lockOf = (files: object) => ({
    path: 'models.lock.json',
    bytes: Buffer.from(JSON.stringify({ version: 1, files })),
  });
  const file = { path: 'stt/asr/a.json', bytes: FILES['a.json'] };
  const [list] = LISTS as [TarEntry];
  const manifest = testManifest([open]);

  const vouched = await unpack(
    bundleOf([list, lockOf({ 'stt/asr/a.json': entry }), file]),
    temporaryFolder(),
    { manifest },
  );
  const unvouched = unpack(bundleOf([list, lockOf({}), file]), temporaryFolder(), { manifest });

  expect(vouched.notes.join()).toContain('taken from the archive');
  await expect(unvouched).rejects.toMatchObject({ failure: 'unverified' });
});

test('unpackBundle does not write through a link that lies in the place of a file', async () => {
  const modelsDir = temporaryFolder();
  const victim = join(temporaryFolder(), 'victim');
  writeFileSync(victim, 'precious');
  await unpack(await madeBundle(), modelsDir);
  const place = join(modelsDir, 'stt/asr/c.bin');
  writeFileSync(place, '');
  spawnSync('rm', [place]);
  symlinkSync(victim, place);

  await unpack(await madeBundle(), modelsDir);

  expect(readFileSync(victim, 'utf8')).toBe('precious');
});

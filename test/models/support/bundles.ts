/** Archives of models for tests: good ones made by our own command, and others by another hand. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../src/lib/clock.ts';
import { unpackBundle, writeBundle } from '../../../src/model-store/bundle.ts';
import { downloadModels } from '../../../src/model-store/download-models.ts';
import { planFiles } from '../../../src/model-store/model-files.ts';
import { ModelLock } from '../../../src/model-store/model-lock.ts';
import { downloadWorld, temporaryFolder } from './download-world.ts';
import { testManifest, testModel } from './manifests.ts';
import { someBytes } from './model-server.ts';
import { type TarEntry, tarOf } from './tars.ts';

export const FILES = {
  'a.json': someBytes(100, 1),
  'onnx/b.onnx': someBytes(70_000, 2),
  'c.bin': someBytes(1024, 3),
};
export const MODEL = testModel('https://models.example/asr/', FILES);
export const MANIFEST = testManifest([MODEL]);
export const MANIFEST_TEXT = JSON.stringify(MANIFEST);
export const LISTS: readonly TarEntry[] = [
  { path: 'manifest.json', bytes: Buffer.from(MANIFEST_TEXT) },
  { path: 'models.lock.json', bytes: Buffer.from('{"version":1,"files":{}}') },
];
export const GOOD: readonly TarEntry[] = Object.entries(FILES).map(([path, bytes]) => ({
  path: `stt/asr/${path}`,
  bytes,
}));

/** An archive that our own command made from files that it downloaded. */
export async function madeBundle(): Promise<string> {
  const { folder, server, tools } = await downloadWorld();
  const model = testModel(`${server.origin}/`, FILES);
  for (const [path, bytes] of Object.entries(FILES)) server.files.set(`/${path}`, bytes);
  const lock = await ModelLock.load(folder);
  const files = planFiles([model], { modelsDir: folder, lock, mirror: null });
  const onResult = () => undefined;
  await downloadModels(files, { ...tools, modelsDir: folder, lock, onResult });
  const bundle = join(temporaryFolder(), 'models.tar');
  const { signal } = new AbortController();
  const onBytes = () => undefined;
  await writeBundle({
    bundle,
    modelsDir: folder,
    files,
    manifest: MANIFEST_TEXT,
    lock,
    signal,
    onBytes,
  });
  return bundle;
}

/** Unpacks with the list of these tests. */
export async function unpack(bundle: string, modelsDir: string, changes: object = {}) {
  const notes: string[] = [];
  const places = await unpackBundle({
    bundle,
    modelsDir,
    manifest: MANIFEST,
    lock: await ModelLock.load(modelsDir),
    clock: systemClock,
    signal: new AbortController().signal,
    onBytes: () => undefined,
    onNote: (text) => notes.push(text),
    ...changes,
  });
  return { places, notes };
}

/** An archive with these entries and nothing else. */
export function bundleOf(entries: readonly TarEntry[]): string {
  const bundle = join(temporaryFolder(), 'evil.tar');
  writeFileSync(bundle, tarOf(entries));
  return bundle;
}

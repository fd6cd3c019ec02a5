/** Many files at once: what is noted, what happens to the rest when one fails, and a disk without room. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { downloadModels, type FileResult } from '../../src/model-store/download-models.ts';
import { planFiles } from '../../src/model-store/model-files.ts';
import { LOCK_FILE, lockFolder, ModelLock } from '../../src/model-store/model-lock.ts';
import { ModelsError } from '../../src/model-store/models-error.ts';
import { downloadWorld, temporaryFolder } from './support/download-world.ts';
import { testModel } from './support/manifests.ts';
import { cutAfter, sha256, someBytes } from './support/model-server.ts';

const FILES = {
  'a.json': someBytes(100, 1),
  'onnx/b.onnx': someBytes(50_000, 2),
  'c.bin': someBytes(9000, 3),
};

async function modelsWorld(files: Readonly<Record<string, Buffer>> = FILES, folder?: string) {
  const world = await downloadWorld(folder === undefined ? {} : { folder });
  const lock = await ModelLock.load(world.folder);
  const model = testModel(`${world.server.origin}/src/`, files);
  for (const [path, bytes] of Object.entries(files)) world.server.files.set(`/src/${path}`, bytes);
  const plan = (mirror: string | null = null) =>
    planFiles([model], { modelsDir: world.folder, lock, mirror });
  const told: FileResult[] = [];
  const tools = {
    ...world.tools,
    modelsDir: world.folder,
    lock,
    onResult: (result: FileResult) => told.push(result),
  };
  return { ...world, model, lock, plan, tools, told };
}

/** A file system of its own; unmounted when the test is over. */
function tinyDisk(sizeKiB: number): string {
  const base = mkdtempSync(join(tmpdir(), 'offhook-disk-'));
  const folder = join(base, 'mnt');
  mkdirSync(folder);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeKiB}k`, 'none', folder]);
  onTestFinished(() => {
    spawnSync('umount', ['-l', folder]);
    rmSync(base, { recursive: true, force: true });
  });
  return folder;
}

function canMount(): boolean {
  if (process.getuid?.() !== 0) return false;
  const base = mkdtempSync(join(tmpdir(), 'offhook-try-'));
  const isMounted =
    spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', base]).status === 0;
  if (isMounted) spawnSync('umount', ['-l', base]);
  rmSync(base, { recursive: true, force: true });
  return isMounted;
}

test('downloadModels has every file in its place, and notes each', async () => {
  const { plan, tools, folder, server } = await modelsWorld();

  const results = await downloadModels(plan(), tools);

  expect(results.map(({ outcome }) => outcome)).toHaveLength(3);
  expect(readFileSync(join(folder, 'stt/asr/onnx/b.onnx')).equals(FILES['onnx/b.onnx'])).toBe(true);
  const noted = JSON.parse(readFileSync(join(folder, LOCK_FILE), 'utf8'));
  expect(Object.keys(noted.files)).toEqual([
    'stt/asr/a.json',
    'stt/asr/c.bin',
    'stt/asr/onnx/b.onnx',
  ]);
  expect(noted.files['stt/asr/a.json']).toMatchObject({
    sha256: sha256(FILES['a.json']),
    trust: 'manifest',
    revision: 'v1',
    url: `${server.origin}/src/a.json`,
  });
});

test('downloadModels has two files on their way at once, and no more', async () => {
  const { plan, tools, server } = await modelsWorld();
  const twoAreThere = Promise.withResolvers<void>();
  let now = 0;
  let most = 0;
  for (const [path, bytes] of Object.entries(FILES)) {
    server.instead.set(`/src/${path}`, [
      async (_request, response) => {
        now += 1;
        most = Math.max(most, now);
        if (now === 2) twoAreThere.resolve();
        await twoAreThere.promise;
        await wait(60);
        now -= 1;
        response.end(bytes);
      },
    ]);
  }

  await downloadModels(plan(), tools);

  expect(most).toBe(2);
});

test('downloadModels brings the other files though one cannot be had', async () => {
  const { plan, tools, server, folder } = await modelsWorld();
  server.files.delete('/src/a.json');

  const results = await downloadModels(plan(), tools);

  const failed = results.filter(({ outcome }) => outcome instanceof ModelsError);
  expect(failed.map(({ file }) => file.place)).toEqual(['stt/asr/a.json']);
  expect(existsSync(join(folder, 'stt/asr/c.bin'))).toBe(true);
});

test('a folder of models served by any file server is a mirror', async () => {
  const from = await modelsWorld();
  await downloadModels(from.plan(), from.tools);
  const { plan, tools, server, folder } = await modelsWorld();
  server.files.clear();
  for (const file of from.plan()) server.files.set(`/${file.place}`, readFileSync(file.file));

  const results = await downloadModels(plan(`${server.origin}/`), tools);

  expect(results.filter(({ outcome }) => outcome instanceof ModelsError)).toEqual([]);
  expect(readFileSync(join(folder, 'stt/asr/c.bin')).equals(FILES['c.bin'])).toBe(true);
});

test('a file that was taken unverified is held to its checksum ever after, by the lock file', async () => {
  const { model, tools, server, folder } = await modelsWorld({ a: FILES['a.json'] });
  const unknown = { ...model, files: [{ path: 'a', bytes: null, sha256: null }] };
  const plan = (lock: ModelLock) => planFiles([unknown], { modelsDir: folder, lock, mirror: null });
  const [first] = await downloadModels(plan(tools.lock), { ...tools, allowUnverified: true });
  rmSync(join(folder, 'stt/asr/a'));
  server.files.set('/src/a', someBytes(100, 8));

  const lock = await ModelLock.load(folder);
  const [second] = await downloadModels(plan(lock), { ...tools, lock });

  expect(first?.outcome).toMatchObject({ state: 'downloaded' });
  expect(lock.get('stt/asr/a')).toMatchObject({ trust: 'nobody', sha256: sha256(FILES['a.json']) });
  expect(second?.outcome).toMatchObject({ failure: 'wrong-content' });
  expect(existsSync(join(folder, 'stt/asr/a'))).toBe(false);
});

test('what was noted of one revision says nothing of another', async () => {
  const { tools, lock, model, folder } = await modelsWorld();
  const at = new Date(0).toISOString();
  const entry = {
    sha256: 'a'.repeat(64),
    bytes: 1,
    trust: 'nobody',
    revision: 'v1',
    url: '',
    at,
  } as const;
  tools.lock.note('stt/asr/a', entry);
  const expectedAt = (revision: string) => {
    const open = { ...model, revision, files: [{ path: 'a', bytes: null, sha256: null }] };
    return planFiles([open], { modelsDir: folder, lock, mirror: null })[0]?.expected;
  };

  expect(expectedAt('v1')?.sha256).toBe(entry.sha256);
  expect(expectedAt('v2')).toBeNull();
});

test('ModelLock refuses a damaged lock file, and says what it is for', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, LOCK_FILE), '{"version":1,"files":{"../a":{}}}');

  await expect(ModelLock.load(folder)).rejects.toThrow('trust the servers again');
});

test.runIf(canMount())(
  'downloadModels downloads nothing where there is no room for all of it',
  async () => {
    const big = { 'a.bin': someBytes(900_000), 'b.bin': someBytes(900_000) };
    const { plan, tools, server } = await modelsWorld(big, tinyDisk(1024));

    const failed = downloadModels(plan(), tools);

    await expect(failed).rejects.toMatchObject({ failure: 'disk-full' });
    await expect(failed).rejects.toThrow('MODELS_DIR');
    expect(server.seen).toEqual([]);
  },
);

test.runIf(canMount())(
  'a disk that fills up meanwhile: says so, keeps the part, and goes on when there is room',
  async () => {
    const folder = tinyDisk(1024);
    const { plan, tools } = await modelsWorld({ 'a.bin': someBytes(900_000) }, folder);
    const [planned] = plan();
    if (planned === undefined) throw new Error('no file');
    // The length is unknown, so the free space cannot be compared with it.
    const file = { ...planned, bytes: null };
    writeFileSync(join(folder, 'ballast'), Buffer.alloc(400_000));

    const [full] = await downloadModels([file], tools);
    rmSync(join(folder, 'ballast'));
    const [after] = await downloadModels([file], tools);

    expect(full?.outcome).toMatchObject({ failure: 'disk-full' });
    expect(String(full?.outcome)).toContain('make room');
    expect(after?.outcome).toMatchObject({ state: 'downloaded' });
    expect(readdirSync(join(folder, 'stt/asr'))).toEqual(['a.bin']);
  },
);

test('downloadModels stopped meanwhile begins no further file, and every one that came is whole', async () => {
  const { plan, tools, server, stopping, folder } = await modelsWorld();
  server.instead.set('/src/a.json', [cutAfter(FILES['a.json'], 50)]);
  const onResult = () => stopping.abort();

  const results = await downloadModels(plan(), { ...tools, onResult });

  expect(results.some(({ outcome }) => outcome instanceof ModelsError)).toBe(true);
  for (const { file, outcome } of results) {
    if (!(outcome instanceof ModelsError))
      expect(sha256(readFileSync(file.file))).toBe(outcome.sha256);
  }
  expect(existsSync(join(folder, 'stt/asr/c.bin'))).toBe(false);
});

test('lockFolder keeps a second run out, until the first is over', () => {
  const folder = temporaryFolder();
  const first = lockFolder(folder);

  expect(() => lockFolder(folder)).toThrow('another run');

  first.release();
  first.release();
  lockFolder(folder).release();
});

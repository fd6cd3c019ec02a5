/** Archives for machines without internet: one plain tar of models, made by one machine and unpacked by another. */
import type { Stats } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { create, extract, type ReadEntry, replace } from 'tar';
import type { Clock } from '../lib/clock.ts';
import { isSafePath, type Manifest, type Model, parseManifest } from './manifest.ts';
import { type PlannedFile, planFiles, sizeOf, sumOfFile } from './model-files.ts';
import {
  LOCK_FILE,
  type LockEntry,
  lockFolder,
  ModelLock,
  parseLock,
  syncToDisk,
} from './model-lock.ts';
import { cancelled, diskError, ModelsError, refuseWithoutRoom } from './models-error.ts';
import { bytesText, Progress, plainText, type Screen } from './progress.ts';

/** The manifest that the archive was made from: its first entry, before the lock file and the models' files. */
const MANIFEST_ENTRY = 'manifest.json';

/** The manifest and the lock file are read into memory. */
const LIST_BYTES_MAX = 4 * 1024 * 1024;

/** Folder below MODELS_DIR in which an archive is unpacked before its files are checked. */
const STAGING = '.unpacking';

/** The same files give the same bytes on every machine. */
const TAR_OPTIONS = { portable: true, mtime: new Date(0), follow: true, strict: true } as const;

interface BundleRun {
  readonly bundle: string;
  readonly modelsDir: string;
  readonly screen: Screen;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Makes an archive of downloaded files. @throws {ModelsError} */
export async function makeBundleRun(
  options: BundleRun & {
    readonly files: readonly PlannedFile[];
    readonly models: readonly Model[];
    readonly manifestText: string;
  },
): Promise<void> {
  const { bundle, screen, models } = options;
  await withProgress(options, async (lock, progress) => {
    progress.add(
      bundle,
      options.files.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0),
      0,
    );
    const onBytes = (done: number) => progress.update(bundle, done);
    await writeBundle({ ...options, manifest: options.manifestText, lock, onBytes });
  });
  screen.write(
    `Made "${bundle}", ${bytesText(sizeOf(bundle) ?? 0)}. On the other machine: npm run models -- --from-bundle ${bundle}\n`,
  );
  const left = models.flatMap((model) => (model.kind === 'llm' ? [model.ollama] : []));
  if (left.length === 0) return;
  screen.write(
    `Not in it: ${left.join(', ')}, which Ollama keeps; docs/models.md says how to copy that.\n`,
  );
}

/** Unpacks an archive. @throws {ModelsError} */
export async function takeBundleRun(
  options: BundleRun & { readonly manifest: Manifest },
): Promise<void> {
  const { bundle, modelsDir, screen } = options;
  const places = await withProgress(options, (lock, progress) => {
    progress.add(bundle, null, 0);
    return unpackBundle({
      ...options,
      lock,
      onBytes: (done) => progress.update(bundle, done),
      onNote: (text) => progress.say(screen.paint('yellow', text)),
    });
  });
  const lines = places.map((place) => `${screen.paint('green', 'ok')}  ${place}`);
  const end = `${places.length} files unpacked to "${modelsDir}", each checked.`;
  screen.write(`${[...lines, end].join('\n')}\n`);
}

async function withProgress<Result>(
  options: BundleRun,
  work: (lock: ModelLock, progress: Progress) => Promise<Result>,
): Promise<Result> {
  const runLock = lockFolder(options.modelsDir);
  const progress = new Progress(options);
  try {
    const lock = await ModelLock.load(options.modelsDir);
    progress.start();
    return await work(lock, progress);
  } finally {
    progress.stop();
    runLock.release();
  }
}

/**
 * Writes an archive of checked files, and gives it its name when it is whole.
 *
 * @param options.manifest text of the manifest that the files were planned from.
 * @param options.onBytes receives the number of bytes that are in the archive.
 * @throws {ModelsError} when a file is missing or damaged, or the disk is full.
 */
export async function writeBundle(options: {
  readonly bundle: string;
  readonly modelsDir: string;
  readonly files: readonly PlannedFile[];
  readonly manifest: string;
  readonly lock: ModelLock;
  readonly signal: AbortSignal;
  onBytes(done: number): void;
}): Promise<void> {
  const { bundle, modelsDir, files, lock, signal } = options;
  const part = `${bundle}.part`;
  const lists = await mkdtemp(join(tmpdir(), 'offhook-bundle-'));
  const places = files.map(({ place }) => place);
  let done = 0;
  try {
    for (const file of files) await refuseDamaged(file, signal);
    await refuseWithoutRoom(
      dirname(bundle),
      files.reduce((sum, { file }) => sum + (sizeOf(file) ?? 0), 0),
    );
    await writeFile(join(lists, MANIFEST_ENTRY), options.manifest);
    await writeFile(join(lists, LOCK_FILE), lock.text(places));
    await create({ ...TAR_OPTIONS, file: part, cwd: lists }, [MANIFEST_ENTRY, LOCK_FILE]);
    const onWriteEntry = ({ stat }: { stat?: { size: number } }) => {
      done += stat?.size ?? 0;
      options.onBytes(done);
    };
    const filter = () => !signal.aborted;
    await replace({ ...TAR_OPTIONS, file: part, cwd: modelsDir, onWriteEntry, filter }, places);
    signal.throwIfAborted();
    syncToDisk(part);
    await rename(part, bundle);
    syncToDisk(dirname(bundle));
  } catch (error) {
    await rm(part, { force: true });
    throw signal.aborted ? cancelled(error) : diskError(error, bundle);
  } finally {
    await rm(lists, { recursive: true, force: true });
  }
}

async function refuseDamaged({ file, place, expected }: PlannedFile, signal: AbortSignal) {
  const refused = (why: string) =>
    new ModelsError('wrong-content', `Cannot put "${place}" into the archive: ${why}`);
  if (sizeOf(file) === null) throw refused('it is not there');
  const isRight = expected !== null && (await sumOfFile(file, expected, signal)).isRight;
  if (!isRight) throw refused('it is damaged; --check tells more');
}

interface UnpackOptions {
  readonly bundle: string;
  readonly modelsDir: string;
  /** This machine's own: an archive never brings the list that its files are checked against. */
  readonly manifest: Manifest;
  readonly lock: ModelLock;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  onBytes(done: number): void;
  /** Receives a message about a file whose checksum is only in the archive itself. */
  onNote(text: string): void;
}

/**
 * Unpacks an archive into a staging folder, and moves each file to its place when its checksum is right.
 *
 * @returns the places of the unpacked files.
 * @throws {ModelsError} `wrong-content` before any file is moved, when the archive holds files that are not in the
 * manifest; and at the first file with a wrong checksum.
 */
export async function unpackBundle(options: UnpackOptions): Promise<readonly string[]> {
  const { bundle, modelsDir, lock, clock, signal } = options;
  const size = sizeOf(bundle);
  if (size === null) {
    throw new ModelsError('usage', `Cannot read the archive "${bundle}": there is no such file`);
  }
  const planned = planFiles(options.manifest.models, { modelsDir, lock, mirror: null });
  const staging = join(modelsDir, STAGING);
  try {
    await mkdir(modelsDir, { recursive: true });
    await refuseWithoutRoom(modelsDir, size);
    await rm(staging, { recursive: true, force: true });
    await mkdir(staging);
    await extractTo(staging, new Set(planned.map(({ place }) => place)), options);
    const theirs = await listsIn(staging, bundle);
    const unpackedOf = ({ place }: PlannedFile) => join(staging, ...place.split('/'));
    const work = planned
      .filter((file) => sizeOf(unpackedOf(file)) !== null)
      .map((file) => trusted(file, theirs, options));
    for (const { file, trust } of work) {
      const unpacked = unpackedOf(file);
      const { sha256, bytes, isRight } = await sumOfFile(unpacked, file.expected, signal);
      if (!isRight) throw wrongFile(bundle, file, sha256);
      syncToDisk(unpacked);
      await mkdir(dirname(file.file), { recursive: true });
      await rename(unpacked, file.file);
      syncToDisk(dirname(file.file));
      const { revision, url, place } = file;
      lock.note(place, { sha256, bytes, trust, revision, url, at: clock.now().toISOString() });
    }
    return work.map(({ file }) => file.place);
  } catch (error) {
    throw signal.aborted ? cancelled(error) : diskError(error, modelsDir);
  } finally {
    // After an error tar may still be writing the files that it has begun.
    await rm(staging, { recursive: true, force: true, maxRetries: 10 });
  }
}

/**
 * Unpacks the lists and the files of our manifest.
 *
 * @throws {ModelsError} `wrong-content`, naming a path that leads elsewhere, a link, a file that is not in the manifest, a
 * file that is there twice, or the damage.
 */
async function extractTo(
  staging: string,
  places: ReadonlySet<string>,
  { bundle, signal, onBytes }: UnpackOptions,
): Promise<void> {
  const seen = new Set<string>();
  const problems: string[] = [];
  let done = 0;
  const filter = (_path: string, entry: ReadEntry | Stats) => {
    if (signal.aborted || problems.length > 0 || !('type' in entry)) return false;
    if (entry.type === 'Directory') return true;
    const path = entry.path.replace(/^\.\//, '');
    const problem = problemWith(entry, path, { places, seen });
    if (problem !== null) problems.push(problem);
    seen.add(path);
    done += entry.size;
    onBytes(done);
    return problem === null;
  };
  try {
    await extract({ file: bundle, cwd: staging, strict: true, noMtime: true, filter });
  } catch (error) {
    if (isDiskError(error)) throw error;
    problems.push('it is damaged, cut off, or not a tar');
  }
  signal.throwIfAborted();
  const [problem] = problems;
  if (problem !== undefined) throw refused(bundle, problem);
}

function problemWith(
  { type, size }: ReadEntry,
  path: string,
  { places, seen }: { readonly places: ReadonlySet<string>; readonly seen: ReadonlySet<string> },
): string | null {
  if (!isSafePath(path)) return `"${path}" in it would lie outside the folder of models`;
  if (type !== 'File' && type !== 'OldFile') return `"${path}" in it is not a file (${type})`;
  if (seen.has(path)) return `"${path}" is in it twice`;
  const isList = path === MANIFEST_ENTRY || path === LOCK_FILE;
  if (isList) return size > LIST_BYTES_MAX ? `${path} in it is too long` : null;
  if (places.has(path)) return null;
  return `"${path}" in it is not in the manifest; is it of another version of Offhook?`;
}

function isDiskError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

/** Reads the two lists of an unpacked archive. @returns the entries of its lock file. @throws {ModelsError} */
async function listsIn(staging: string, bundle: string): Promise<ReadonlyMap<string, LockEntry>> {
  const textOf = (name: string) =>
    readFile(join(staging, name), 'utf8').catch(() => {
      throw refused(bundle, `there is no ${name} in it`);
    });
  parseManifest(await textOf(MANIFEST_ENTRY), `${bundle}: ${MANIFEST_ENTRY}`);
  return parseLock(await textOf(LOCK_FILE), `${bundle}: ${LOCK_FILE}`);
}

/** A planned file with the checksum of our manifest or lock file, else of the archive's lock file. */
function trusted(
  file: PlannedFile,
  theirs: ReadonlyMap<string, LockEntry>,
  options: UnpackOptions,
): { readonly file: PlannedFile; readonly trust: 'manifest' | 'bundle' } {
  if (file.expected !== null) return { file, trust: 'manifest' };
  const { place, revision } = file;
  const expected = theirs.get(place);
  if (expected?.revision !== revision) {
    throw new ModelsError(
      'unverified',
      `Cannot unpack "${place}": neither our manifest nor the archive states its checksum`,
    );
  }
  options.onNote(`${place}: its checksum is taken from the archive, which has to be trusted`);
  return { file: { ...file, expected }, trust: 'bundle' };
}

function wrongFile(bundle: string, { place, expected }: PlannedFile, sha256: string): ModelsError {
  return new ModelsError(
    'wrong-content',
    `Cannot unpack "${place}" from "${bundle}": its SHA-256 is ${sha256}, and ${expected?.sha256} was promised; it was not kept. Copy the archive again, or make it again with --offline-bundle`,
  );
}

function refused(bundle: string, why: string): ModelsError {
  return new ModelsError(
    'wrong-content',
    `Cannot use the archive "${bundle}": ${plainText(why)}; nothing of it was unpacked. Make it again with --offline-bundle`,
  );
}

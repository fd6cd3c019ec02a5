/** Runs for machines that reach no internet: one archive is made here, and unpacked there. */
import type { Clock } from '../lib/clock.ts';
import { unpackBundle } from './bundle-unpack.ts';
import { writeBundle } from './bundle-write.ts';
import type { Manifest, Model } from './manifest.ts';
import { ModelLock } from './model-lock.ts';
import type { PlannedFile } from './plan.ts';
import { Progress, type Screen } from './progress.ts';
import { lockFolder } from './run-lock.ts';
import { bytesText } from './wording.ts';

interface BundleRun {
  readonly bundle: string;
  readonly modelsDir: string;
  readonly screen: Screen;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Makes an archive of files that are there. @throws {ModelsError} */
export async function makeBundleRun(
  options: BundleRun & {
    readonly files: readonly PlannedFile[];
    readonly models: readonly Model[];
    readonly manifestText: string;
  },
): Promise<void> {
  const { bundle, modelsDir, screen, models } = options;
  const runLock = lockFolder(modelsDir);
  const progress = new Progress(options);
  try {
    const lock = await ModelLock.load(modelsDir);
    progress.add(
      bundle,
      options.files.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0),
      0,
    );
    progress.start();
    const onBytes = (done: number) => progress.update(bundle, done);
    const bytes = await writeBundle({ ...options, manifest: options.manifestText, lock, onBytes });
    progress.stop();
    screen.write(
      `Made "${bundle}", ${bytesText(bytes)}. On the other machine: npm run models -- --from-bundle ${bundle}\n`,
    );
    const left = models.flatMap((model) => (model.kind === 'llm' ? [model.ollama] : []));
    if (left.length > 0) {
      screen.write(
        `Not in it: ${left.join(', ')}, which Ollama keeps; docs/models.md tells how to carry that over.\n`,
      );
    }
  } finally {
    progress.stop();
    runLock.release();
  }
}

/** Unpacks an archive. @throws {ModelsError} */
export async function takeBundleRun(
  options: BundleRun & { readonly manifest: Manifest },
): Promise<void> {
  const { bundle, modelsDir, screen } = options;
  const runLock = lockFolder(modelsDir);
  const progress = new Progress(options);
  try {
    const lock = await ModelLock.load(modelsDir);
    progress.add(bundle, null, 0);
    progress.start();
    const places = await unpackBundle({
      ...options,
      lock,
      onBytes: (done) => progress.update(bundle, done),
      onNote: (text) => progress.say(screen.paint('yellow', text)),
    });
    progress.stop();
    const lines = places.map((place) => `${screen.paint('green', 'ok')}  ${place}`);
    screen.write(
      `${[...lines, `${places.length} files unpacked to "${modelsDir}", each checked.`].join('\n')}\n`,
    );
  } finally {
    progress.stop();
    runLock.release();
  }
}

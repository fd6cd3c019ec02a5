/** What a download needs, for tests: a folder, a server of files, short patience, and what was told. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'undici';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import type { DownloadTools, FileJob } from '../../../src/model-store/download-file.ts';
import { DEFAULT_LIMITS, type RetryLimits } from '../../../src/model-store/download-file.ts';
import { type AccessToken, HttpSource } from '../../../src/model-store/http-source.ts';
import { type ModelServer, sha256, startModelServer } from './model-server.ts';

/** Real waits, but short: sockets have no clock that a test could turn. */
export const SHORT_LIMITS: RetryLimits = {
  ...DEFAULT_LIMITS,
  failuresMax: 3,
  firstWaitMs: 5,
  waitMsMax: 20,
  retryAfterMsMax: 2000,
  // Longer than a busy machine stands still.
  stallMs: 10_000,
};

export interface DownloadWorld {
  readonly folder: string;
  readonly server: ModelServer;
  readonly tools: DownloadTools;
  readonly notes: string[];
  readonly stopping: AbortController;
  /** Resolves when the first bytes of a file are there. */
  readonly begun: Promise<void>;
  /** A job for a file of the server, promised as it is there. */
  job(path: string, bytes: Buffer, changes?: Partial<FileJob>): FileJob;
  /** What lies there now. */
  read(name: string): Buffer;
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-models-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function testSource(token: AccessToken | null = null): {
  readonly source: HttpSource;
  readonly dispatcher: Agent;
} {
  const dispatcher = new Agent({ connect: { timeout: 2000 } });
  onTestFinished(() => dispatcher.destroy());
  return { source: new HttpSource({ dispatcher, userAgent: 'Offhook/test', token }), dispatcher };
}

export async function downloadWorld(
  options: { readonly folder?: string; readonly allowUnverified?: boolean } = {},
): Promise<DownloadWorld> {
  const folder = options.folder ?? temporaryFolder();
  const server = await startModelServer();
  const notes: string[] = [];
  const stopping = new AbortController();
  const begun = Promise.withResolvers<void>();
  const tools: DownloadTools = {
    source: testSource().source,
    clock: systemClock,
    limits: SHORT_LIMITS,
    allowUnverified: options.allowUnverified ?? false,
    signal: stopping.signal,
    onBytes: (_job, bytes) => bytes > 0 && begun.resolve(),
    onNote: (text) => notes.push(text),
  };
  const job = (path: string, bytes: Buffer, changes: Partial<FileJob> = {}): FileJob => {
    server.files.set(path, bytes);
    return {
      place: path.slice(1),
      url: `${server.origin}${path}`,
      file: join(folder, ...path.slice(1).split('/')),
      revision: 'v1',
      expected: { sha256: sha256(bytes), bytes: bytes.length },
      ...changes,
    };
  };
  const read = (name: string) => readFileSync(join(folder, name));
  return { folder, server, tools, notes, stopping, begun: begun.promise, job, read };
}

/** What a backup says about itself: `manifest.json`, written last, so that a folder without one is no backup. */
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { syncFile } from './backup-database.ts';

const MANIFEST = 'manifest.json';

const count = z.number().int().min(0);

const manifestSchema = z.object({
  format: z.literal(1),
  /** Of the server that made it. */
  version: z.string(),
  createdAt: z.iso.datetime(),
  database: z.object({
    sizeBytes: count,
    /** Lowercase hexadecimal. */
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
  }),
  /** Rows, for people to see that it is the right one. */
  counts: z.object({ accounts: count, agents: count, calls: count, events: count }),
  recordings: z.object({
    /** False when it was made without them. */
    included: z.boolean(),
    files: count,
    sizeBytes: count,
    /** Recordings that calls name and that were not there. */
    missing: count,
  }),
});

export type BackupManifest = z.output<typeof manifestSchema>;

/** The database's name inside a backup folder. */
export const BACKUP_DATABASE = 'offhook.db';

export function writeManifest(folder: string, manifest: BackupManifest): void {
  const path = join(folder, MANIFEST);
  writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
  syncFile(path);
}

/**
 * Reads a backup's manifest, and checks that the database is the one that it tells of.
 *
 * @throws {Error} saying what is wrong with the folder.
 */
export async function readManifest(folder: string): Promise<BackupManifest> {
  const manifest = parse(folder);
  const sha256 = await sha256Of(join(folder, BACKUP_DATABASE)).catch((error: unknown) => {
    throw notUsable(folder, 'its database cannot be read', error);
  });
  if (sha256 !== manifest.database.sha256) {
    throw notUsable(folder, 'its database is not the one that was saved (wrong SHA-256)');
  }
  return manifest;
}

/** SHA-256 of a file's bytes, lowercase hexadecimal. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

function parse(folder: string): BackupManifest {
  let text: string;
  try {
    text = readFileSync(join(folder, MANIFEST), 'utf8');
  } catch (error) {
    throw notUsable(folder, `it has no readable ${MANIFEST}`, error);
  }
  try {
    return manifestSchema.parse(JSON.parse(text));
  } catch (error) {
    throw notUsable(folder, `its ${MANIFEST} is not one of this version`, error);
  }
}

function notUsable(folder: string, why: string, cause?: unknown): Error {
  return new Error(`Cannot use "${folder}" as a backup: ${why}`, { cause });
}

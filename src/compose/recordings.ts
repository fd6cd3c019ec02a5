/** Composition root: where recordings lie, and when there is room for them. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Recordings } from '../call/session/call-parts.ts';
import type { Config } from '../config/config.ts';
import type { DiskSpace } from '../lib/disk-space.ts';
import { WAV_HEADER_BYTES } from '../media/recording/wav-format.ts';

/** The folder of recordings inside the data folder. */
export const RECORDINGS = 'recordings';

/** Recordings in the data folder; none begins while its disk is short of room. */
export function openRecordings(parts: {
  readonly config: Pick<Config, 'DATA_DIR'>;
  readonly disk: Pick<DiskSpace, 'isShort' | 'state'>;
}): Recordings {
  const { config, disk } = parts;
  return {
    start: (callId, leg) => {
      if (disk.isShort) throw new Error(`Cannot record call "${callId}": ${disk.state}`);
      const file = join(RECORDINGS, `${callId}.wav`);
      leg.record(join(config.DATA_DIR, file));
      return file;
    },
    hasSound: (file) => {
      const found = statSync(join(config.DATA_DIR, file), { throwIfNoEntry: false });
      return found !== undefined && found.size > WAV_HEADER_BYTES;
    },
  };
}

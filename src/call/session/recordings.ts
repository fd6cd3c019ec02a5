/** Recordings of calls: WAV files in the data folder, named after the call. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { RECORDINGS } from '../../domain/call/recording-link.ts';
import type { DiskSpace } from '../../lib/disk-space.ts';
import { WAV_HEADER_BYTES } from '../../media/recording/wav-file.ts';
import type { Recordings } from './call-parts.ts';

/** Makes recordings in the data folder; none begins while its disk is short of space. */
export function openRecordings(parts: {
  /** The data folder, which `Call.recordingFile` is relative to. */
  readonly dataFolder: string;
  readonly disk: Pick<DiskSpace, 'isShort' | 'state'>;
}): Recordings {
  const { dataFolder, disk } = parts;
  return {
    start: (callId, leg) => {
      if (disk.isShort) throw new Error(`Cannot record call "${callId}": ${disk.state}`);
      const file = join(RECORDINGS, `${callId}.wav`);
      leg.record(join(dataFolder, file));
      return file;
    },
    hasSound: (file) => {
      const found = statSync(join(dataFolder, file), { throwIfNoEntry: false });
      return found !== undefined && found.size > WAV_HEADER_BYTES;
    },
  };
}

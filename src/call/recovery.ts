/** At start: ends the calls that a process before this one left unfinished. */
import { stat } from 'node:fs/promises';
import type { Call, CallStore } from '../domain/call.ts';
import type { NewId } from '../domain/ids.ts';
import type { Logger } from '../lib/logger.ts';
import { ended } from './call-record.ts';

export interface RecoveryParts {
  readonly calls: CallStore;
  /** Where a call's recording lies. */
  readonly recordingPath: (file: string) => string;
  /** Makes a recording that was cut off playable. */
  readonly repairRecording: (path: string) => Promise<unknown>;
  readonly newId: NewId;
  readonly now: Date;
  readonly log: Logger;
}

/** The last sign of life of a call: its recording's last write, its last words, or its answer. */
async function lastSignOf(call: Call, parts: RecoveryParts): Promise<Date> {
  const signs = [call.createdAt, call.startedAt, call.answeredAt].filter((at) => at !== null);
  for (const entry of parts.calls.transcript(call.id)) signs.push(entry.at);
  if (call.recordingFile !== null) {
    try {
      signs.push((await stat(parts.recordingPath(call.recordingFile))).mtime);
    } catch (error) {
      parts.log.warn(
        { callId: call.id, err: error },
        'recording of an interrupted call is missing',
      );
    }
  }
  const lastMs = Math.max(...signs.map((at) => at.getTime()));
  return new Date(Math.min(lastMs, parts.now.getTime()));
}

async function repair(call: Call, parts: RecoveryParts): Promise<void> {
  if (call.recordingFile === null) return;
  try {
    await parts.repairRecording(parts.recordingPath(call.recordingFile));
  } catch (error) {
    parts.log.warn({ callId: call.id, err: error }, 'recording could not be repaired');
  }
}

/** Gives each unfinished call its end (`failed`, `error`), its event and a playable recording. @returns how many. */
export async function recoverCalls(parts: RecoveryParts): Promise<number> {
  const unfinished = parts.calls.findUnfinished();
  for (const call of unfinished) {
    const endedAt = await lastSignOf(call, parts);
    await repair(call, parts);
    const facts = {
      endedAt,
      eventAt: parts.now,
      reason: 'error' as const,
      eventId: parts.newId('evt'),
    };
    const change = ended(call, facts);
    parts.calls.update(change.call, change.events);
  }
  if (unfinished.length > 0) {
    parts.log.warn(
      { calls: unfinished.length },
      'calls cut off by the last stop were put on record',
    );
  }
  return unfinished.length;
}

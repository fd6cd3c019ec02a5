/** Crash recovery at start: ends the calls that the previous process left unfinished. */
import type { Call, CallStore } from '../domain/call/call.ts';
import { answered, ended } from '../domain/call/call-life.ts';
import type { OpenDialog } from '../domain/call/open-dialog.ts';
import type { NewId } from '../domain/ids.ts';
import type { Logger } from '../lib/logger.ts';
import { hasCode } from '../lib/unknown-value.ts';
import { failureBecause } from './session/end-reason.ts';
import { beginningOf, endedEntry } from './session/session-timeline.ts';

/** Stores and services that crash recovery needs. */
export interface RecoveryParts {
  readonly calls: CallStore;
  /** Open-dialog journal: dialogs of calls, answered and not. */
  readonly dialogs: readonly OpenDialog[];
  /** Path of a call's recording. */
  readonly recordingPath: (file: string) => string;
  /**
   * Makes a recording that was cut off playable, and removes one without sound.
   *
   * @returns how long it plays.
   * @throws {Error} of the file system.
   */
  readonly repairRecording: (path: string) => Promise<Recorded>;
  readonly newId: NewId;
  readonly now: Date;
  readonly log: Logger;
}

interface Recorded {
  /** Milliseconds; 0 where it has no sound. */
  readonly soundMs: number;
}

/** Makes the recording playable, and says how much of the call it holds; undefined where no sound was ever written. */
async function recordedOf(call: Call, parts: RecoveryParts): Promise<Recorded | undefined> {
  if (call.recordingFile === null) return undefined;
  try {
    const recorded = await parts.repairRecording(parts.recordingPath(call.recordingFile));
    return recorded.soundMs > 0 ? recorded : undefined;
  } catch (error) {
    const isMissing = hasCode(error, 'ENOENT');
    const message = isMissing
      ? 'an interrupted call has no recording'
      : 'recording could not be repaired';
    parts.log.warn({ callId: call.id, err: error }, message);
    return isMissing ? undefined : { soundMs: 0 };
  }
}

/**
 * The last sign of life of a call: the end of its recording, its last words, or its answer. The recording's end is known from
 * its length: after a restore from a backup, the file's own time is that of the copy.
 */
async function lastSignOf(
  call: Call,
  recorded: Recorded | undefined,
  parts: RecoveryParts,
): Promise<Date> {
  const words = (await parts.calls.transcript(call.id)).map(({ at }) => at);
  const signs = [call.createdAt, call.startedAt, call.answeredAt, ...words];
  const recordedUntilMs = (call.answeredAt?.getTime() ?? 0) + (recorded?.soundMs ?? 0);
  const lastMs = Math.max(recordedUntilMs, ...signs.map((at) => at?.getTime() ?? 0));
  // Simulated time runs ahead of the clock on the wall.
  return new Date(call.environment === 'test' ? lastMs : Math.min(lastMs, parts.now.getTime()));
}

/** Records an answer that SIP has saved with its dialog, but that the call's record did not get before the server stopped. */
async function withAnswer(
  call: Call,
  answers: ReadonlyMap<string, OpenDialog>,
  { calls, newId }: RecoveryParts,
): Promise<Call> {
  const dialog = answers.get(call.carrierCallSid ?? '');
  if (call.status !== 'ringing' || dialog === undefined) return call;
  const { openedAt: now, price } = dialog;
  const { recordingFile } = call;
  const change = answered(call, { now, recordingFile, price, eventId: newId('evt') });
  await calls.update(change.call, change.events);
  return change.call;
}

/** Gives each unfinished call its end (`failed`, `error`), its event and a playable recording. @returns how many. */
export async function recoverCalls(parts: RecoveryParts): Promise<number> {
  const unfinished = await parts.calls.findUnfinished();
  const answeredDialogs = parts.dialogs.filter(({ invite }) => invite === null);
  const answers = new Map(answeredDialogs.map((dialog) => [dialog.sipCallId, dialog]));
  for (const left of unfinished) {
    const call = await withAnswer(left, answers, parts);
    const recorded = await recordedOf(call, parts);
    const endedAt = await lastSignOf(call, recorded, parts);
    const facts = {
      endedAt,
      eventAt: parts.now,
      reason: 'error' as const,
      failure: failureBecause('The server stopped during the call.'),
      eventId: parts.newId('evt'),
    };
    const recordingFile = recorded === undefined ? null : call.recordingFile;
    const change = ended({ ...call, recordingFile }, facts);
    await parts.calls.update(change.call, change.events);
    const begun = left.status === 'in_progress' ? [] : beginningOf(change.call);
    for (const entry of [...begun, endedEntry(change.call)]) {
      await parts.calls.addTimelineEntry(call.id, entry);
    }
  }
  if (unfinished.length > 0) {
    parts.log.warn(
      { calls: unfinished.length },
      'calls cut off by the last stop were put on record',
    );
  }
  return unfinished.length;
}

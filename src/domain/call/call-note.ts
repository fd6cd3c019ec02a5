/** What people and programs write on a call afterwards: tags to find it by, and a note. */

export const TAGS_MAX = 20;

export const TAG_CHARS_MAX = 50;

export const NOTE_CHARS_MAX = 10_000;

/** Tags are sorted and without repetitions; the note is null where there is none. */
export interface CallNote {
  readonly tags: readonly string[];
  readonly note: string | null;
}

/** Keeps notes apart from the calls: a call that is going on writes its whole record, and would write over them. */
export interface CallNoteStore {
  /** The notes of calls, by id; calls without one are missing. */
  ofCalls(callIds: readonly string[]): Promise<ReadonlyMap<string, CallNote>>;

  /** Replaces what is given and leaves the rest. @returns the whole note. */
  change(callId: string, change: Partial<CallNote>): Promise<CallNote>;
}

export const NO_NOTE: CallNote = { tags: [], note: null };

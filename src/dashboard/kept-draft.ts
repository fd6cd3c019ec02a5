/** Keeps what was typed into a form for as long as the browser's tab lives: leaving the page or signing in again loses nothing. */
import type { AgentDraft } from './agent-draft.ts';

/** A form as it was left. */
export interface KeptDraft {
  readonly draft: AgentDraft;
  /** What the form began with. */
  readonly begun: AgentDraft;
  /** Version of the agent that the form began with: its `updatedAt`; empty for an agent that is not created yet. */
  readonly updatedAt: string;
}

type Box = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

const PREFIX = 'offhook.draft.';

/** @returns undefined where nothing is kept, or nothing that can be read. */
export function keptDraft(box: Box, path: string): KeptDraft | undefined {
  try {
    return JSON.parse(box.getItem(PREFIX + path) ?? 'null') ?? undefined;
  } catch {
    // A form of another version, or a browser without storage: it begins as if nothing was kept.
    return undefined;
  }
}

/** Keeps the form where it was changed, forgets it where it was not. A browser without storage keeps nothing. */
export function keepDraft(box: Box, path: string, kept: KeptDraft): void {
  try {
    if (JSON.stringify(kept.draft) === JSON.stringify(kept.begun)) box.removeItem(PREFIX + path);
    else box.setItem(PREFIX + path, JSON.stringify(kept));
  } catch {
    // Storage is full or shut off: the form still works, it only is not kept.
  }
}

/** Follows the check of a trunk, within a time limit, until it is over, stopped, or the page goes. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../api-error.ts';
import type { TrunkCheck } from '../api-types.ts';
import { client, t } from '../app-state.ts';
import { useSubmit } from '../parts/form.tsx';
import { readEvents } from '../read-events.ts';
import {
  afterCheckEvent,
  type CheckState,
  NOTHING_CHECKED,
  type ShownStep,
  shownSteps,
} from './check-progress.ts';

/** The server ends a check after 25 s. What takes longer is the way to the server. */
const LIMIT_MS = 40_000;

export interface TrunkChecking {
  /** Empty until the server begins. */
  readonly steps: readonly ShownStep[];
  /** The result; undefined until the check is over. */
  readonly check: TrunkCheck | undefined;
  readonly isBusy: boolean;
  readonly isStopped: boolean;
  readonly error: unknown;
  /** Begins a check; does nothing while one is in progress. */
  readonly start: (event?: Event) => void;
  readonly stop: () => void;
}

/** @param name of the trunk. */
export function useTrunkCheck(name: string): TrunkChecking {
  const [known, setKnown] = useState(NOTHING_CHECKED);
  const [isStopped, setStopped] = useState(false);
  const stopping = useRef(new AbortController());
  const stop = () => stopping.current.abort();
  useEffect(() => stop, []);
  const { isBusy, error, submit } = useSubmit(async () => {
    setKnown(NOTHING_CHECKED);
    setStopped(false);
    stopping.current = new AbortController();
    const { signal } = stopping.current;
    await followCheck(name, setKnown, signal).catch((failure: unknown) => {
      if (!signal.aborted) throw failure;
      setStopped(true);
    });
  });
  const { steps, check } = known;
  return {
    ...{ steps: shownSteps(steps, isBusy), check, isBusy, isStopped, error, start: submit, stop },
  };
}

/**
 * Resolves with the end of the check.
 *
 * @throws {ApiError} when the server refuses or fails.
 * @throws {Error} in the language of the page, when the check takes too long or the connection breaks.
 */
async function followCheck(
  name: string,
  onState: (state: CheckState) => void,
  stopped: AbortSignal,
): Promise<void> {
  const limit = AbortSignal.timeout(LIMIT_MS);
  const signal = AbortSignal.any([stopped, limit]);
  const path = `api/trunks/${encodeURIComponent(name)}/check`;
  let state = NOTHING_CHECKED;
  try {
    const ask = { method: 'POST', accept: 'text/event-stream', signal } as const;
    await readEvents(
      await client.open(path, ask),
      (event) => {
        state = afterCheckEvent(state, event);
        onState(state);
      },
      signal,
    );
  } catch (error) {
    if (error instanceof ApiError) throw error;
    const why = t(limit.aborted ? 'trunk.checkOverdue' : 'trunk.checkBroken');
    throw new Error(why, { cause: error });
  }
  if (state.failure !== undefined) throw state.failure;
  if (state.check === undefined) throw new Error(t('trunk.checkBroken'));
}

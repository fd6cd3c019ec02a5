/** What a page knows of a trunk's check, and how each event of its stream changes it; pure */
import { ApiError } from '../api-error.ts';
import type { TrunkCheck, TrunkCheckFailure, TrunkCheckProgress } from '../api-types.ts';
import type { SseEvent } from '../read-events.ts';

type Progress = TrunkCheckProgress['steps'][number];

/** A step as it is shown; `unchecked`: the check ended early, while it was in progress. */
export interface ShownStep extends Omit<Progress, 'state'> {
  readonly state: Progress['state'] | 'unchecked';
}

export interface CheckState {
  readonly steps: readonly Progress[];
  /** The result; undefined until the check is over. */
  readonly check: TrunkCheck | undefined;
  /** Why the server could not go on. */
  readonly failure: ApiError | undefined;
}

export const NOTHING_CHECKED: CheckState = { steps: [], check: undefined, failure: undefined };

/** The state after an event; events of kinds that it does not know change nothing. */
export function afterCheckEvent(state: CheckState, { event, data }: SseEvent): CheckState {
  switch (event) {
    case 'progress':
      return { ...state, steps: (JSON.parse(data) as TrunkCheckProgress).steps };
    case 'check':
      return { ...state, check: JSON.parse(data) as TrunkCheck };
    case 'failed':
      return { ...state, failure: new ApiError((JSON.parse(data) as TrunkCheckFailure).error) };
    default:
      return state;
  }
}

/** Steps that have begun, or never will. @param isRunning false where the check is over, or broke off. */
export function shownSteps(steps: readonly Progress[], isRunning: boolean): readonly ShownStep[] {
  return steps
    .filter(({ state }) => state !== 'waiting')
    .map((step) => {
      const isLeft = step.state === 'running' && !isRunning;
      return isLeft ? { ...step, state: 'unchecked' } : step;
    });
}

/** Steps of a result. */
export function stepsFound(steps: TrunkCheck['steps']): readonly ShownStep[] {
  return steps.map(({ step, ok, message }) => ({ step, state: ok ? 'ok' : 'failed', message }));
}

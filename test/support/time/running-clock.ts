/** A clock that goes while the process runs, and stands while the machine gives the processor to others. */
import { onTestFinished } from 'vitest';
import { FakeClock } from './fake-clock.ts';

const STEP_MS = 5;

/**
 * For two parts of one process that wait for each other: a stall holds up both, and what one of them has sent meanwhile
 * must not come too late for the other. Goes until the test is finished.
 */
export function runningClock(): FakeClock {
  const clock = new FakeClock();
  const timer = setInterval(() => clock.advance(STEP_MS), STEP_MS);
  onTestFinished(() => clearInterval(timer));
  return clock;
}

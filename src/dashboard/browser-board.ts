/** Where the meters of a page are: in this browser. */
import type { BoardWorld } from './meter-board.ts';

export const BROWSER_BOARD: BoardWorld = {
  nowMs: () => performance.now(),
  nextFrame: (step) => {
    const frame = requestAnimationFrame(step);
    return () => cancelAnimationFrame(frame);
  },
  wantsCalm: () => matchMedia('(prefers-reduced-motion: reduce)').matches,
};

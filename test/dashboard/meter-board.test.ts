/** The level meters of live calls, frame by frame. */
import { expect, test } from 'vitest';
import { MeterBoard } from '../../src/dashboard/meter-board.ts';

/** A board with one meter, and a screen that draws when it is told to. */
function world(options: { readonly isCalm?: boolean } = {}) {
  const [caller, agent] = [{ style: { transform: '' } }, { style: { transform: '' } }];
  const frames: (() => void)[] = [];
  let nowMs = 5000;
  const board = new MeterBoard({
    nowMs: () => nowMs,
    nextFrame: (step) => {
      frames.push(step);
      return () => frames.splice(frames.indexOf(step), 1);
    },
    wantsCalm: () => options.isCalm ?? false,
  });
  const detach = board.attach('call_1', { caller, agent });
  return {
    board,
    detach,
    caller,
    agent,
    frames,
    pass: (ms: number) => {
      nowMs += ms;
    },
    draw: (ms: number) => {
      nowMs += ms;
      frames.shift()?.();
    },
  };
}

const LOUD = [{ callId: 'call_1', caller: -30, agent: -90 }];

test('a meter rises with the level at the next frame, and falls once nothing is told', () => {
  const { board, caller, agent, draw, frames } = world();

  board.tell(LOUD);
  draw(16);
  const risen = caller.style.transform;
  for (let frame = 0; frame < 200 && frames.length > 0; frame += 1) draw(16);

  expect(risen).toBe('scaleX(0.500)');
  expect(caller.style.transform).toBe('scaleX(0.000)');
  expect(agent.style.transform).toBe('');
  expect(frames).toEqual([]);
});

test('one frame at a time is asked for, however much is told', () => {
  const { board, frames } = world();

  board.tell(LOUD);
  board.tell(LOUD);

  expect(frames).toHaveLength(1);
});

test('who wants little movement sees a step a second, and no frames', () => {
  const { board, caller, frames, pass } = world({ isCalm: true });
  const seen: string[] = [];

  for (const level of [-30, -12, -6, -60, -12, -12]) {
    board.tell([{ callId: 'call_1', caller: level, agent: -90 }]);
    seen.push(caller.style.transform);
    pass(250);
  }

  expect(seen).toEqual([...Array(4).fill('scaleX(0.500)'), ...Array(2).fill('scaleX(0.800)')]);
  expect(frames).toEqual([]);
});

test('levels of calls without a meter change nothing, and neither does a board that was stopped', () => {
  const { board, caller, detach, draw, frames } = world();
  detach();

  board.tell(LOUD);
  draw(16);
  board.stop();
  board.stop();

  expect(caller.style.transform).toBe('');
  expect(frames).toEqual([]);
});

/** A leg whose BYE gets no answer. */
import { expect, test } from 'vitest';
import { openLeg } from './scripted-pair.ts';
import { ScriptedDialog, settle } from './scripted-srf.ts';

/** A dialog of a far end that is gone. */
function silent(): ScriptedDialog {
  return new ScriptedDialog(() => new Promise(() => {}));
}

test('SrfLeg is over for its call 2 s after an unanswered BYE, and keeps its line for 32 s', async () => {
  let isOver = false;
  const { clock, endpoint, leg, causes } = openLeg({
    dialog: silent(),
    onOver: () => {
      isOver = true;
    },
  });
  const told = leg.hangUp();

  clock.advance(1999);
  const early = [causes.length, endpoint.isClosed];
  clock.advance(1);
  // A second hang-up waits for the recording alone.
  await leg.hangUp();
  const left = [[...causes], endpoint.isClosed, isOver];
  clock.advance(29_999);
  await settle();
  const stillRung = isOver;
  clock.advance(1);
  await told;

  expect(early).toEqual([0, false]);
  expect(left).toEqual([[{ kind: 'near-end' }], true, false]);
  expect([stillRung, isOver]).toEqual([false, true]);
  expect(causes).toHaveLength(1);
});

test('SrfLeg takes a BYE of the far end that comes after it has left, and tells nothing again', async () => {
  const dialog = silent();
  const { clock, leg, causes } = openLeg({ dialog });
  void leg.hangUp();
  clock.advance(2000);

  dialog.receive('destroy');
  await leg.hangUp();

  expect(leg.isOver).toBe(true);
  expect(causes).toEqual([{ kind: 'near-end' }]);
});

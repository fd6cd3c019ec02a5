import { expect, test } from 'vitest';
import { silentLogger } from '../../src/lib/logger.ts';
import type { ReleaseCause } from '../../src/telephony/carrier.ts';
import { openSrf } from '../../src/telephony/drachtio/carrier/srf.ts';
import { SrfLeg, type SrfLegOptions } from '../../src/telephony/drachtio/leg/srf-leg.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { PlainEndpoint, response, ScriptedDialog } from './scripted-srf.ts';

function openLeg(options: Partial<SrfLegOptions> & { readonly dialog?: ScriptedDialog } = {}) {
  const clock = new FakeClock();
  const dialog = options.dialog ?? new ScriptedDialog();
  const causes: ReleaseCause[] = [];
  const leg = new SrfLeg({
    srf: openSrf(),
    endpoint: new PlainEndpoint(),
    clock,
    log: silentLogger,
    referDomain: 'carrier.example',
    isAnswerAwaited: false,
    onOver: () => undefined,
    ...options,
    dialog,
  });
  leg.onReleased((cause) => causes.push(cause));
  return { clock, dialog, leg, causes };
}

test('SrfLeg says BYE over a later connection where its own is closed', async () => {
  const closed = Object.assign(new Error('socket destroyed'), { code: 'ESOCKETDESTROYED' });
  const sent: unknown[] = [];
  const answering = {
    on: (_: string, listener: (answer: unknown) => void) => listener(response(200)),
  };
  const srf = Object.assign(openSrf(), {
    request: (_: string, parts: unknown, callback: (error: unknown, sent: unknown) => void) => {
      sent.push(parts);
      callback(null, answering);
    },
  });
  const { leg, causes } = openLeg({
    srf,
    dialog: new ScriptedDialog(() => Promise.reject(closed)),
  });

  await leg.hangUp();

  expect(sent).toEqual([{ method: 'BYE', stackDialogId: 'dialog-1' }]);
  expect(causes).toEqual([{ kind: 'near-end' }]);
});

test.each([
  [
    'the server has no such dialog',
    async () => Promise.reject(Object.assign(new Error('no'), { code: 'ENODIALOG' })),
    true,
  ],
  ['the far end has no such call', async () => response(481), true],
  ['the far end answers', async () => response(200), false],
  ['the far end does not know OPTIONS', async () => response(405), false],
])('SrfLeg asks after itself by OPTIONS: %s', async (_, answerer, expected) => {
  const { dialog, leg } = openLeg({ dialog: new ScriptedDialog(answerer) });

  expect(await leg.isGone()).toBe(expected);
  expect(dialog.sent).toEqual([{ method: 'OPTIONS' }]);
});

test('SrfLeg takes a far end that does not answer within 2 s for one that is there', async () => {
  const { clock, leg } = openLeg({ dialog: new ScriptedDialog(() => new Promise(() => {})) });

  const isGone = leg.isGone();
  clock.advance(2_000);

  expect(await isGone).toBe(false);
});

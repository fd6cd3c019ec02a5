/** Blind transfer by REFER, both ways, inside a real call. */
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import type { Dialog } from '../../src/sip/dialog/dialog.ts';
import { parseRefer, ReferReports, refer } from '../../src/sip/dialog/refer.ts';
import { parseSipfrag } from '../../src/sip/message/sipfrag.ts';
import type { ServerInvite } from '../../src/sip/server-invite.ts';
import { request, SDP } from './messages.ts';
import type { Pair } from './user-agents.ts';
import { next, startPair, stopPair } from './user-agents.ts';

let pair: Pair | undefined;

afterEach(async () => {
  if (pair !== undefined) await stopPair(pair);
  pair = undefined;
});

async function answeredCall(): Promise<{ caller: Dialog; callee: Dialog }> {
  pair = await startPair();
  const { alice, bob, bobUri } = pair;
  const invited = next<[ServerInvite]>(bob, 'invite');
  const call = alice.invite({ uri: bobUri, body: SDP });
  const [invite] = await invited;
  const { dialog: callee, acknowledged } = invite.accept({ body: SDP });
  const { dialog: caller } = await call.outcome;
  await acknowledged;
  if (caller === null) throw new Error('call was not answered');
  return { caller, callee };
}

describe('refer', () => {
  const TARGET = 'sip:carol@example.com';

  function takeRefer(dialog: Dialog, statuses: readonly number[]): string[] {
    const asked: string[] = [];
    dialog.on('request', async (request) => {
      if (request.request.method !== 'REFER') return;
      asked.push(parseRefer(request.request).uri);
      const reports = new ReferReports(dialog, request);
      for (const status of statuses) await reports.report(status);
    });
    return asked;
  }

  test('resolves with how the call to the target went', async () => {
    const { caller, callee } = await answeredCall();
    const asked = takeRefer(callee, [100, 180, 200, 500]);
    const progress: number[] = [];

    const status = await refer(caller, TARGET, {
      clock: systemClock,
      onProgress: (report) => progress.push(report.status),
    });

    expect(status).toBe(200);
    expect(asked).toEqual([TARGET]);
    expect(progress).toEqual([100, 180, 200]);
  });

  test('resolves with the refusal', async () => {
    const { caller } = await answeredCall();

    expect(await refer(caller, TARGET, { clock: systemClock })).toBe(603);
  });

  test('resolves with null when the peer hangs up, or says nothing', async () => {
    const { caller, callee } = await answeredCall();
    takeRefer(callee, [100]);

    const silent = await refer(caller, TARGET, { clock: systemClock, timeoutMs: 50 });
    const cut = refer(caller, TARGET, { clock: systemClock, onProgress: () => void callee.bye() });

    expect(silent).toBeNull();
    expect(await cut).toBeNull();
  });
});

describe('parseRefer', () => {
  test('takes Replaces out of the target', () => {
    const asked = request('REFER', {
      'Refer-To': '<sip:carol@example.com?Replaces=a%3Bto-tag%3Db>',
      'Referred-By': '<sip:bob@example.com>',
    });

    expect(parseRefer(asked)).toEqual({
      uri: 'sip:carol@example.com',
      replaces: 'a;to-tag=b',
      referredBy: '<sip:bob@example.com>',
    });
  });

  test.each([{}, { 'Refer-To': '<sip:a@b>, <sip:c@d>' }])('refuses %j', (headers) => {
    expect(() => parseRefer(request('REFER', headers))).toThrow('Bad Refer-To');
  });

  test('refuses a Replaces whose escapes are broken', () => {
    const asked = request('REFER', { 'Refer-To': '<sip:a@b?Replaces=%E0%A4%A>' });

    expect(() => parseRefer(asked)).toThrow('Bad Refer-To');
  });
});

test.each([
  ['SIP/2.0 180 Ringing\r\n', { status: 180, reason: 'Ringing' }],
  ['SIP/2.0 200\r\n', { status: 200, reason: '' }],
  ['SIP/2.0 999 No\r\n', null],
  ['', null],
])('parseSipfrag reads %j', (body, expected) => {
  expect(parseSipfrag(Buffer.from(body))).toEqual(expected);
});

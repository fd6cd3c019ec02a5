/** Session timers: what two sides agree on, and who does what when. */
import { describe, expect, test } from 'vitest';
import {
  addAgreedSessionExpires,
  addSessionExpires,
  answeredTerms,
  answerTerms,
  parseMinSe,
  parseSessionExpires,
  refusalOfInterval,
  SessionTimer,
} from '../../src/sip/dialog/session-timer.ts';
import { FakeClock } from '../support/time/fake-clock.ts';
import { request, responseTo } from './messages.ts';

const OWN = { intervalMs: 1_800_000, intervalMsMin: 90_000 };

describe('answerTerms', () => {
  test.each([
    // What the peer asks, whether it can refresh, what we want, what comes of it.
    [undefined, undefined, undefined, null],
    [undefined, undefined, OWN, { intervalMs: 1_800_000, refresher: 'uas' }],
    [undefined, 'timer', OWN, { intervalMs: 1_800_000, refresher: 'uac' }],
    ['600', undefined, undefined, { intervalMs: 600_000, refresher: 'uas' }],
    ['600', 'timer', undefined, { intervalMs: 600_000, refresher: 'uac' }],
    ['600;refresher=uas', 'timer', undefined, { intervalMs: 600_000, refresher: 'uas' }],
    ['600;refresher=uac', 'timer', OWN, { intervalMs: 600_000, refresher: 'uac' }],
  ] as const)('answers %s with Supported %s', (wish, supported, own, expected) => {
    const invite = request('INVITE', {
      ...(wish !== undefined && { 'Session-Expires': wish }),
      ...(supported !== undefined && { Supported: supported }),
    });

    expect(answerTerms(invite, own)).toEqual(expected);
  });
});

test('refusalOfInterval names our minimum to a peer that asks for less and can do better', () => {
  const brief = (headers: Record<string, string>) =>
    refusalOfInterval(request('INVITE', { 'Session-Expires': '89', ...headers }), OWN);

  expect(brief({ Supported: 'timer' })).toEqual({ headers: { 'Min-SE': '90' } });
  expect(brief({ Supported: '100rel' })).toBeUndefined();
  expect(brief({ 'Session-Expires': '90', Supported: 'timer' })).toBeUndefined();
});

test.each([
  ['uac', 'timer', 'timer'],
  ['uas', 'timer', 'timer'],
  ['uas', '100rel', undefined],
] as const)('addTerms says that %s refreshes, to a peer with Supported %s', (refresher, supported, required) => {
  const invite = request('INVITE', { Supported: supported });
  const response = responseTo(invite, 200);

  addAgreedSessionExpires(response, { intervalMs: 600_000, refresher }, invite);

  expect(response.get('session-expires')).toBe(`600;refresher=${refresher}`);
  expect(response.get('require')).toBe(required);
});

test('addWish writes interval and minimum in seconds', () => {
  const invite = request('INVITE');

  addSessionExpires(invite, OWN);

  expect(invite.get('session-expires')).toBe('1800');
  expect(parseMinSe(invite)).toBe(90_000);
});

test.each(['', 'soon', '-1', '99999999999'])('parseSessionExpires refuses %j', (value) => {
  const invite = request('INVITE');
  invite.set('session-expires', value);

  expect(() => parseSessionExpires(invite)).toThrow('Bad Session-Expires');
  expect(answeredTerms(invite)).toBeNull();
});

describe('SessionTimer', () => {
  function start(refresher: 'uac' | 'uas', role: 'uac' | 'uas') {
    const clock = new FakeClock();
    const told: string[] = [];
    const timer = new SessionTimer({
      clock,
      refresh: () => told.push(`refresh at ${clock.nowMs()}`),
      expire: () => told.push(`expire at ${clock.nowMs()}`),
    });
    timer.restart({ intervalMs: 90_000, refresher }, role);
    return { clock, told, timer };
  }

  test('refreshes halfway where that is ours, and gives up when it does not help', () => {
    const { clock, told } = start('uac', 'uac');

    clock.advance(90_000);

    expect(told).toEqual(['refresh at 45000', 'expire at 60000']);
  });

  test('only watches where the peer refreshes', () => {
    const { clock, told, timer } = start('uac', 'uas');

    clock.advance(50_000);
    timer.restart({ intervalMs: 90_000, refresher: 'uac' }, 'uas');
    clock.advance(59_999);
    const toldBefore = [...told];
    clock.advance(1);

    expect(toldBefore).toEqual([]);
    expect(told).toEqual(['expire at 110000']);
  });

  test('is silent once stopped, or agreed away', () => {
    const stopped = start('uac', 'uac');
    const ended = start('uac', 'uac');

    stopped.timer.stop();
    ended.timer.restart(null, 'uac');
    stopped.clock.advance(1_000_000);
    ended.clock.advance(1_000_000);

    expect([...stopped.told, ...ended.told]).toEqual([]);
  });
});

import { describe, expect, test } from 'vitest';
import { moveSms, SMS_STATES, type SmsMessage } from '../../src/domain/sms/sms-message.ts';
import { decideRecipient, optOutWord, otherPartyOf } from '../../src/domain/sms/sms-rules.ts';
import { buildSms } from '../support/store/build-sms.ts';

const NOW = new Date('2026-11-20T12:00:05.000Z');

describe('moveSms', () => {
  test.each([
    ['accepted', ['sent', 'delivered', 'failed', 'unknown']],
    ['unknown', ['sent', 'delivered', 'failed']],
    ['sent', ['delivered', 'failed']],
    ['delivered', []],
    ['failed', []],
  ] as const)('moves a message that is %s to %j only', (status, next) => {
    const message = buildSms({ status });
    const states = SMS_STATES.filter((state) => state !== 'accepted');

    const moved = states.filter((to) => moveSms(message, { status: to }, NOW) !== undefined);

    expect(new Set(moved)).toEqual(new Set(next));
  });

  test('keeps the identifier that comes after the report it belongs to', () => {
    const delivered = buildSms({ status: 'delivered' });

    const moved = moveSms(delivered, { status: 'sent', providerId: 'SM1' }, NOW);

    expect(moved).toEqual({ ...delivered, providerId: 'SM1' } satisfies SmsMessage);
  });
});

describe('optOutWord', () => {
  test.each([
    ['STOP', 'stop'],
    [' stop. ', 'stop'],
    ['Stopp!', 'stop'],
    ['stop all', 'stop'],
    ['Arrêt', 'stop'],
    ['Start', 'start'],
    ['Stop by at nine?', undefined],
    ['', undefined],
    ['Thank you', undefined],
  ])('takes %j for %s', (text, word) => {
    expect(optOutWord(text)).toBe(word);
  });
});

describe('decideRecipient', () => {
  const home = { allowedCountries: undefined, homeNumbers: ['+390698765432', 'Offhook'] };

  test.each([
    ['+393331234567', true],
    ['+390612345678', false],
    ['+4915123456789', false],
    ['+39800123456', false],
    ['+39899123456', false],
    ['+882130099', false],
    ['+390698765432', false],
    ['anonymous', false],
    ['112', false],
    ['', false],
  ])('says of %j %s', (number, isAllowed) => {
    expect(decideRecipient(number, home).isAllowed).toBe(isAllowed);
  });

  test('goes by the country of the sender where the agent has no number', () => {
    const rules = { allowedCountries: undefined, homeNumbers: [null, '+491512345678'] };

    expect(decideRecipient('+4915123456789', rules).isAllowed).toBe(true);
    expect(decideRecipient('+393331234567', rules).isAllowed).toBe(false);
  });

  test('names landlines, so that the caller learns why', () => {
    const decision = decideRecipient('+390612345678', home);

    expect(decision).toMatchObject({ reason: expect.stringContaining('landline') });
  });

  test('otherPartyOf is who called, or who was called', () => {
    const parties = { from: '+393331234567', to: '+390698765432' };

    expect(otherPartyOf({ ...parties, direction: 'inbound' })).toBe(parties.from);
    expect(otherPartyOf({ ...parties, direction: 'outbound' })).toBe(parties.to);
  });
});

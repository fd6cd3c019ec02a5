/** Addresses, drafts and formats of the pages. */
import { expect, test } from 'vitest';
import { bodyOf, draftOf, NEW_AGENT, targetsOf } from '../../src/dashboard/agent/agent-draft.ts';
import { messageUnder } from '../../src/dashboard/api-error.ts';
import { addressOf, clockText, filterOf, formatsOf } from '../../src/dashboard/format.ts';
import { addressIn, routeOf } from '../../src/dashboard/router.ts';

test.each([
  ['', 'overview', ''],
  ['#/calls/call_1', 'calls', 'call_1'],
  ['#/live', 'live', ''],
  ['#/setup?token=abc', 'setup', ''],
  ['#/nothing', 'missing', ''],
  ['#/agents/%E0%A4%A', 'agents', ''],
])('routeOf(%o)', (hash, page, id) => {
  expect(routeOf(hash)).toMatchObject({ page, id });
});

test('routeOf gives the query', () => {
  expect(routeOf('#/setup?token=a-b_c').query.get('token')).toBe('a-b_c');
});

test.each([
  ['#/agents/agent_1?environment=test', 'test'],
  ['#/calls?status=failed&environment=live', 'live'],
  ['#/calls?environment=moon', undefined],
  ['#/calls', undefined],
])('routeOf(%o) is in the environment %o', (hash, environment) => {
  expect(routeOf(hash).environment).toBe(environment);
});

test.each([
  ['', '#/overview?environment=test'],
  ['#/nothing', '#/nothing?environment=test'],
  ['#/agents/agent_1', '#/agents/agent_1?environment=test'],
  ['#/calls?status=failed&environment=live', '#/calls?status=failed&environment=test'],
])('addressIn(%o) carries the environment', (hash, address) => {
  expect(addressIn(hash, 'test')).toBe(address);
});

test('addressOf and filterOf are each other’s reverse', () => {
  const filter = { fields: { status: 'failed', startDate: '2026-11-01' }, offset: 100 };

  expect(filterOf(routeOf(addressOf(filter)).query)).toEqual(filter);
  expect(filterOf(routeOf(addressOf({ ...filter, cursor: 'MTIz' })).query)).toEqual({
    ...filter,
    cursor: 'MTIz',
  });
});

test('filterOf leaves out what is empty, unknown or no number', () => {
  const query = new URLSearchParams('status=&other=1&offset=-5');

  expect(filterOf(query)).toEqual({ fields: {}, offset: 0 });
});

test('targetsOf reads a line each, and keeps colons of the label', () => {
  expect(targetsOf('sales: +390612345678\n\n a: b : +1 ')).toEqual([
    { label: 'sales', number: '+390612345678' },
    { label: 'a: b', number: '+1' },
  ]);
});

test('bodyOf leaves out an empty telephone number', () => {
  expect(bodyOf(NEW_AGENT)).not.toHaveProperty('phoneNumber');
  expect(bodyOf({ ...NEW_AGENT, phoneNumber: ' +1 ' })).toHaveProperty('phoneNumber', '+1');
});

const TARGET = { label: 'x', number: '+390612345678' };

test('draftOf an agent gives the same agent back', () => {
  const body = bodyOf({ ...NEW_AGENT, name: 'A', transferTargets: [TARGET] });
  const agent = { ...(body as unknown as Parameters<typeof draftOf>[0]), phoneNumber: null };

  expect(bodyOf(draftOf(agent))).toEqual(body);
});

test('messageUnder finds what is wrong inside a field, and not in its neighbour', () => {
  const wrong = { 'settings.transferTargets.0.number': 'no number', toolsExtra: 'no' };

  expect(messageUnder(wrong, 'settings.transferTargets')).toBe('no number');
  expect(messageUnder(wrong, 'tools')).toBeUndefined();
});

test.each([
  [0, '0:00'],
  [62.9, '1:02'],
  [3723, '1:02:03'],
  [-3, '0:00'],
])('clockText(%d)', (seconds, text) => {
  expect(clockText(seconds)).toBe(text);
});

test('formatsOf writes numbers and days as the language does', () => {
  const [english, german] = [formatsOf('en'), formatsOf('de')];

  expect([english.decimal(1234.56), german.decimal(1234.56)]).toEqual(['1,234.6', '1.234,6']);
  expect(german.day('2026-11-01')).toBe('1. Nov.');
  expect(english.language('not a tag')).toBe('not a tag');
});

test.each([
  ['0.0240', 'EUR', '€0.024', '0,024\u00a0€', '€0.024'],
  ['0.000033', 'EUR', '€0.000033', '0,000033\u00a0€', '€0.000033'],
  ['0.5000', 'EUR', '€0.50', '0,50\u00a0€', '€0.50'],
  ['1234.567800', 'EUR', '€1,234.5678', '1.234,5678\u00a0€', '€1,234.57'],
  ['12.5000', 'JPY', '¥12.5', '12,5\u00a0¥', '¥13'],
  ['3.0000', 'XYZ', 'XYZ\u00a03.00', '3,00\u00a0XYZ', 'XYZ\u00a03.00'],
])('formatsOf writes %s %s as the language does', (amount, currency, english, german, rounded) => {
  const sum = { amount, currency };

  expect(formatsOf('en').money(sum)).toBe(english);
  expect(formatsOf('de').money(sum)).toBe(german);
  expect(formatsOf('en').roundMoney(sum)).toBe(rounded);
});

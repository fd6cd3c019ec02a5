/** What the forms of tools and calendars send, and how appointments are laid out by day. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as calendars from '../../src/dashboard/calendar.ts';
import { daysOf, hoursText, localDay } from '../../src/dashboard/calendar.ts';
import { broughtBack } from '../../src/dashboard/forms/form-changes.ts';
import * as gateways from '../../src/dashboard/gateway-draft.ts';
import * as tools from '../../src/dashboard/tools/tool-draft.ts';
import { jsonFault } from '../../src/dashboard/tools/tool-draft.ts';

const TOOL = {
  name: 'order_status',
  description: 'Looks up an order.',
  parameters: { type: 'object', properties: { orderId: { type: 'string' } } },
  method: 'GET',
  url: 'https://shop.example.com/{orderId}',
  headers: [
    { name: 'Authorization', value: null, secret: true },
    { name: 'X-Shop', value: 'one', secret: false },
  ],
  timeoutMs: 5000,
  sayWhileWaiting: null,
  resultPath: 'data.status',
  createdAt: '',
  updatedAt: '',
} as const;

test('changesOf a tool sends only what was changed, and nothing where nothing was', () => {
  const begun = tools.draftOf(TOOL);

  expect(tools.changesOf(begun, begun)).toEqual({});
  expect(tools.changesOf({ ...begun, timeoutMs: '700', resultPath: ' ' }, begun)).toEqual({
    timeoutMs: 700,
    resultPath: null,
  });
});

test('headersOf keeps a secret that nothing was typed for, and drops empty rows', () => {
  const rows = [...tools.headerRows(TOOL.headers), tools.NEW_HEADER];

  expect(tools.headersOf(rows)).toEqual(TOOL.headers);
  expect(tools.headersOf([{ name: 'A', value: 'new', kind: 'secret' }])).toEqual([
    { name: 'A', value: 'new', secret: true },
  ]);
});

test.each([
  ['{"a": 1}', undefined],
  ['', { line: 1, column: 1 }],
  ['{\n  "a": x\n}', { line: 2, column: 8 }],
  ['{"a": 1,}', { line: 1, column: 9 }],
  ['[1 2]', { line: 1, column: 4 }],
  ["{'a': 1}", { line: 1, column: 2 }],
  ['{"a" 1}', { line: 1, column: 6 }],
  ['{"a": "b\nc"}', { line: 1, column: 7 }],
  ['{"a": [{"b": tru}]}', { line: 1, column: 14 }],
  ['{} {}', { line: 1, column: 4 }],
  ['{"a": 1', { line: 1, column: 8 }],
])('jsonFault(%o)', (text, expected) => {
  expect(jsonFault(text)).toEqual(expected);
});

test('sampleArguments has a value of the right type for each property', () => {
  const properties = {
    text: { type: 'string' },
    kind: { type: 'string', enum: ['b', 'a'] },
    count: { type: 'integer', minimum: 3 },
    isNew: { type: 'boolean' },
    list: { type: 'array' },
  };
  const parameters = JSON.stringify({ type: 'object', properties });

  expect(tools.sampleArguments(parameters)).toEqual({
    text: '',
    kind: 'b',
    count: 3,
    isNew: true,
    list: [],
  });
});

test.each([
  '',
  'null',
  '[]',
  '{"properties": 5}',
  '{"properties": {"a": null}}',
])('argumentNames and sampleArguments bear a schema such as %o', (parameters) => {
  expect(tools.argumentNames(parameters).length).toBeLessThanOrEqual(1);
  expect(() => tools.sampleArguments(parameters)).not.toThrow();
});

test('bodyOf a calendar has its hours by day in order, and a server only for CalDAV', () => {
  const draft = {
    ...calendars.newCalendar('Europe/Rome'),
    hours: [
      { day: 'monday', from: '14:00', to: '18:00' },
      { day: 'monday', from: '09:00', to: '12:30' },
    ],
    url: 'https://cal.example.com/a/',
  };
  const caldav = calendars.bodyOf({ ...draft, kind: 'caldav', username: 'desk' });

  expect(calendars.bodyOf(draft)).toMatchObject({
    timeZone: 'Europe/Rome',
    workingHours: {
      monday: [
        { from: '09:00', to: '12:30' },
        { from: '14:00', to: '18:00' },
      ],
    },
  });
  expect(calendars.bodyOf(draft)).not.toHaveProperty('url');
  expect(caldav).toMatchObject({ url: 'https://cal.example.com/a/', username: 'desk' });
  expect(caldav).not.toHaveProperty('password');
});

test('changesOf a calendar sends a password only where one was typed', () => {
  const begun = { ...calendars.newCalendar('UTC'), kind: 'caldav', username: 'desk' };

  expect(calendars.changesOf(begun, begun)).toEqual({});
  expect(calendars.changesOf({ ...begun, password: 'secret' }, begun)).toEqual({
    password: 'secret',
  });
});

test('daysOf goes by the days of the calendar’s time zone', () => {
  const times = (startTime: string, endTime: string) => ({ startTime, endTime });
  const late = times('2026-11-30T23:30:00.000Z', '2026-12-01T00:00:00.000Z');
  const early = times('2026-11-30T08:00:00.000Z', '2026-11-30T08:30:00.000Z');
  const rome = { timeZone: 'Europe/Rome', language: 'de' };

  expect(daysOf([early, late], rome)).toEqual([
    { day: 'Montag, 30. November 2026', appointments: [early] },
    { day: 'Dienstag, 1. Dezember 2026', appointments: [late] },
  ]);
  expect(hoursText(late, rome)).toBe('00:30 – 01:00');
});

test('localDay is the reader’s day', () => {
  expect(localDay(new Date(2026, 0, 5, 23, 59))).toBe('2026-01-05');
});

test('jsonFault agrees with JSON.parse on every text, and its place lies in the text', () => {
  const pieces = fc.constantFrom(...'{}[],:" \n19-.etrufalsn\\"ab'.split(''), '"a"', 'true', '0');
  const texts = fc.oneof(
    fc.array(pieces, { maxLength: 12 }).map((all) => all.join('')),
    fc
      .json()
      .chain((json) => fc.nat(json.length).map((at) => json.slice(0, at) + json.slice(at + 1))),
  );

  fc.assert(
    fc.property(texts, (text) => {
      const fault = jsonFault(text);
      expect(fault === undefined).toBe(isJson(text));
      if (fault !== undefined) {
        const lines = text.split('\n');
        expect(fault.column).toBeLessThanOrEqual((lines[fault.line - 1] ?? '').length + 1);
      }
    }),
  );
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test.each([
  ['twilio', { preset: 'twilio' }],
  ['smpp', { kind: 'smpp' }],
  ['sip', { kind: 'sip' }],
])('bodyOf a gateway of the type %s names its preset or kind, and nothing that is empty', (type, kind) => {
  const draft = { ...gateways.NEW_GATEWAY, type, name: 'own', from: 'Shop' };

  expect(gateways.bodyOf(draft)).toEqual({
    ...{ name: 'own', from: 'Shop', allowedLinks: [], dailyMax: 200, timeoutMs: 8000 },
    ...kind,
  });
});

test('changesOf a gateway clears what was emptied, and sends a secret only where one was typed', () => {
  const begun = { ...gateways.NEW_GATEWAY, url: 'https://sms.example.com', username: 'desk' };

  expect(gateways.changesOf(begun, begun)).toEqual({});
  expect(gateways.changesOf({ ...begun, url: ' ', secret: 's' }, begun)).toEqual({
    url: null,
    secret: 's',
  });
});

test('bodyOf a gateway on a server of one’s own has its template, and draftOf gives it back', () => {
  const draft = {
    ...{ ...gateways.NEW_GATEWAY, type: 'webhook', name: 'own', from: 'Shop', format: 'form' },
    fields: [
      { name: ' msisdn ', value: '{toDigits}' },
      { name: 'message', value: '{text}' },
      { name: '', value: 'left empty' },
    ],
    headers: [{ name: 'Authorization', value: 'Token {secret}' }],
    idPath: ' ',
  };
  const template = {
    format: 'form',
    headers: { Authorization: 'Token {secret}' },
    body: { msisdn: '{toDigits}', message: '{text}' },
    idPath: null,
  } as const;
  const shown = { name: 'own', kind: 'http', preset: 'webhook', from: 'Shop' } as const;
  const rest = { username: null, hasSecret: true, url: null, callbackUrl: null, allowedLinks: [] };
  const times = { dailyMax: 200, timeoutMs: 8000, createdAt: '', updatedAt: '' };

  const back = gateways.draftOf({ ...shown, ...rest, ...times, template });

  expect(gateways.bodyOf(draft)).toMatchObject({ template });
  expect(gateways.bodyOf({ ...draft, type: 'twilio' })).not.toHaveProperty('template');
  expect(gateways.bodyOf(back)).toMatchObject({ template });
  expect(gateways.changesOf({ ...back, format: 'standard' }, back)).toEqual({ template: null });
});

test('broughtBack puts what was typed on top of what the server has now', () => {
  const [begun, values] = [
    { a: '1', b: '1', c: [] },
    { a: '2', b: '1', c: [] },
  ];
  const boxOf = (text: string | null) => () => ({
    getItem: () => text,
    setItem: () => undefined,
    removeItem: () => undefined,
  });
  const fresh = { a: '1', b: 'of another person', c: [] };

  expect(broughtBack(boxOf(JSON.stringify({ begun, values })), 'x', fresh)).toEqual({
    ...fresh,
    a: '2',
  });
  expect(broughtBack(boxOf(JSON.stringify({ begun, values: begun })), 'x', fresh)).toBeUndefined();
  expect(broughtBack(boxOf(null), 'x', fresh)).toBeUndefined();
  expect(broughtBack(boxOf('{"half'), 'x', fresh)).toBeUndefined();
});

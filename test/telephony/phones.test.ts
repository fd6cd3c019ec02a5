import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parsePhones, sourcesOfPhones } from '../../src/telephony/phones/phones.ts';

const GOOD = { name: 'front-desk', password: 'long enough' };

const parse = (phones: unknown) => parsePhones(JSON.stringify(phones), 'phones.json');

test('parsePhones fills the defaults in: MD5, and private networks', () => {
  const [phone] = parse([GOOD]);

  expect(phone).toMatchObject({ ...GOOD, algorithm: 'MD5' });
  const isSource = sourcesOfPhones(parse([GOOD]));
  const ours = ['127.0.0.1', '192.168.1.9', 'fd00::1', '[fd00::1]', '::ffff:192.168.1.9'];
  const others = ['203.0.113.9', '2001:db8::1', '[2001:db8::1]', 'x'];
  expect([...ours, ...others].filter(isSource)).toEqual(ours);
});

test.each([
  ['name', { ...GOOD, name: 'a b' }, 'telephone "a b": name: expected letters'],
  ['name', { password: GOOD.password }, 'telephone number 1: name: expected letters'],
  ['password', { ...GOOD, password: 'short' }, 'password: expected text of 8 to 255'],
  ['extension', { ...GOOD, extension: 'x' }, 'extension: expected 1 to 15 digits'],
  ['agent', { ...GOOD, agent: 'Reception' }, 'agent: expected the id of an agent'],
  ['account', { ...GOOD, account: 'me' }, 'account: expected the id of an account'],
  ['algorithm', { ...GOOD, algorithm: 'SHA-1' }, 'algorithm: expected MD5 or SHA-256'],
  ['allowedSources', { ...GOOD, allowedSources: ['a.example'] }, 'allowedSources: expected a list'],
  ['allowedSources', { ...GOOD, allowedSources: [] }, 'allowedSources: expected a list'],
  ['number', { ...GOOD, number: '1' }, 'number: unknown field'],
])('parsePhones names the file, the telephone and a wrong %s, and no password', (_, phone, problem) => {
  expect(() => parse([phone])).toThrow(problem);
  expect(() => parse([phone])).toThrow('phones.json');
  expect(() => parse([phone])).not.toThrow('short');
});

test('parsePhones takes each name and each extension once', () => {
  const other = { ...GOOD, name: 'back-office' };

  expect(() => parse([GOOD, GOOD])).toThrow('name: another telephone has it already');
  expect(() =>
    parse([
      { ...GOOD, extension: '1' },
      { ...other, extension: '1' },
    ]),
  ).toThrow('extension: another telephone has it already');
});

test.each(['{', '{}', '[1', '"a"', 'null'])('parsePhones refuses what is no list: %s', (json) => {
  expect(() => parsePhones(json, 'phones.json')).toThrow('expected a list of 1000 telephones');
});

test('phones.schema.json has the fields of the parser', () => {
  const file = join(import.meta.dirname, '../../sip-config/phones.schema.json');
  const { items } = JSON.parse(readFileSync(file, 'utf8'));

  const problems = Object.keys(items.properties).map((field) => {
    try {
      parse([{ ...GOOD, [field]: { wrong: true } }]);
      return 'none';
    } catch (error) {
      return String(error);
    }
  });

  expect(problems.filter((problem) => problem.includes('unknown field'))).toEqual([]);
  expect(problems).toHaveLength(7);
});

import { expect, test } from 'vitest';
import { credentialsOf } from '../../src/telephony/trunks/trunk-table.ts';
import { parseTrunks } from '../../src/telephony/trunks/trunks.ts';

const TRUNKS = parseTrunks(
  JSON.stringify([
    { name: 'static', proxy: '192.0.2.1' },
    {
      name: 'rome',
      proxy: 'sip.acme.example',
      username: 'rome',
      password: 'a',
      numbers: ['+3906*'],
    },
    {
      name: 'milan',
      proxy: 'sip.acme.example',
      username: 'milan',
      password: 'b',
      numbers: ['+3902*'],
    },
    {
      name: 'guarded',
      proxy: '192.0.2.2:5070',
      domain: 'guarded.example',
      realm: 'guarded',
      username: 'joe',
      password: 'c',
    },
  ]),
);

test.each([
  [
    'a number of the first account',
    'r',
    'sip:1@sip.acme.example',
    '<sip:+3906123456@x>;tag=1',
    'rome',
  ],
  ['a number of the second account', 'r', 'sip:1@SIP.acme.example', '<sip:+3902123456@x>', 'milan'],
  ['the name of the second account', 'r', 'sip:sip.acme.example', '<sip:milan@x>', 'milan'],
  ['an unknown account', 'r', 'sip:1@sip.acme.example;transport=tcp', undefined, 'rome'],
  ['the realm that is named', 'guarded', 'sip:1@guarded.example', undefined, 'joe'],
  ['the proxy by its address', 'guarded', 'sip:1@192.0.2.2:5070', undefined, 'joe'],
  ['another realm', 'evil', 'sip:1@guarded.example', undefined, undefined],
  ['another host', 'r', 'sip:1@evil.example', undefined, undefined],
  ['a trunk without a password', 'r', 'sip:1@192.0.2.1', undefined, undefined],
  ['no SIP address', 'r', 'tel:1', undefined, undefined],
])('credentialsOf, asked for %s, finds the right account', (_, realm, uri, from, username) => {
  expect(credentialsOf(TRUNKS)(realm, uri, from)?.username).toBe(username);
});

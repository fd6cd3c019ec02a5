/** `docs/interop.md` names the test of each program that was tried: the tests must be there, and use that program. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** What a test needs to have in it, by the first word of its row. */
const SIGNS: Readonly<Record<string, RegExp>> = {
  baresip: /support\/sip\/baresip/,
  linphonec: /new Linphone\(/,
  Chromium: /chromium|dashboard\/browser|dashboard-page/i,
  Radicale: /radicale/i,
  smpp: /support\/sms\/smpp-server/,
  sipp: /support\/sip\/sipp/,
  Kamailio: /registrar|kamailio|nat-calls/i,
  'drachtio-server': /drachtio/i,
  FreeSWITCH: /freeswitch|openTelephony|real-gateway|real-processes/i,
};

test('docs/interop.md names tests that exist and use the program of their row', () => {
  const page = readFileSync('docs/interop.md', 'utf8');
  const rows = page.split('\n').filter((line) => /^\| .*`test\/.* \|$/.test(line));

  const faults = rows.flatMap((row) => {
    const program = /^\| ([\w-]+)/.exec(row)?.[1] ?? '';
    const files = [...row.matchAll(/`(test\/[^`]+)`/g)].map(([, file = '']) => file);
    return files.filter((file) => !existsSync(file) || !isUsed(program, file));
  });

  expect(rows.length).toBeGreaterThanOrEqual(10);
  expect(faults).toEqual([]);
});

function isUsed(program: string, file: string): boolean {
  return SIGNS[program]?.test(readFileSync(file, 'utf8')) === true;
}

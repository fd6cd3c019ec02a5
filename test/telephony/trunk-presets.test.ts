/** The trunks of `sip-config/presets` are right, and the manual names each. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { faultsOfTrunk, parseTrunk } from '../../src/telephony/trunks/trunks.ts';
import { faultsOf } from '../support/api/json-schema.ts';
import type { Description, JsonSchema } from '../support/api/openapi-description.ts';

const ROOT = join(import.meta.dirname, '../..');
const PRESETS = globSync('*.json', { cwd: join(ROOT, 'sip-config/presets') }).sort();
const MANUAL = readFileSync(join(ROOT, 'docs/carriers.md'), 'utf8');
const SCHEMA: JsonSchema = JSON.parse(
  readFileSync(join(ROOT, 'sip-config/trunks.schema.json'), 'utf8'),
);

test('there is a preset for each of the usual carriers and telephone systems', () => {
  expect(PRESETS).toEqual([
    ...['3cx.json', 'freepbx-asterisk.json', 'plain-ip.json', 'sipgate.json', 'telnyx.json'],
    ...['twilio.json', 'voip-ms.json', 'vonage.json'],
  ]);
});

test.each(
  PRESETS,
)('the preset %s is a trunk that can call and be called, without a password', (file) => {
  const settings = JSON.parse(readFileSync(join(ROOT, 'sip-config/presets', file), 'utf8'));

  expect(faultsOfTrunk(settings)).toEqual([]);
  expect(faultsOf([settings], SCHEMA, {} as Description)).toEqual([]);
  const { numbers, allowedSources, password } = parseTrunk(settings);
  expect([numbers.length > 0, allowedSources.length > 0]).toEqual([true, true]);
  if (password !== undefined) expect(password).toMatch(/^\$\{[A-Z0-9_]+\}$/);
  expect(MANUAL).toContain(`\`${file}\``);
});

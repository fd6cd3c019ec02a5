import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  describeKey,
  hashOfKey,
  isSigningSecret,
  mayUse,
  newKeyText,
  newSigningSecret,
} from '../../src/domain/account/api-key.ts';

test.each([
  ['live', /^svc_live_[0-9A-Za-z]{32}$/],
  ['test', /^svc_test_[0-9A-Za-z]{32}$/],
] as const)('newKeyText makes a %s key of its form', (environment, form) => {
  expect(newKeyText(environment, randomBytes)).toMatch(form);
});

test('newSigningSecret makes whsec_ and 24 bytes in base64', () => {
  const secret = newSigningSecret(() => new Uint8Array(24).fill(255));

  expect(secret).toBe(`whsec_${'/'.repeat(32)}`);
});

test('hashOfKey is SHA-256 of the whole key', () => {
  expect(hashOfKey('svc_test_abc')).toBe(
    '1a4bfd7b3d7776613d5c291f9a9413ba3aca90e6f41983c8329d661a2c8b8c04',
  );
});

test('describeKey keeps the prefix and the last four characters, and nothing between', () => {
  const text = `svc_live_${'s'.repeat(28)}WXYZ`;

  const apiKey = describeKey(text, {
    id: 'key_1',
    accountId: 'acct_1',
    environment: 'live',
    name: 'till',
    scopes: ['calls:read'],
    createdAt: new Date(0),
  });

  expect(apiKey).toMatchObject({ prefix: 'svc_live_', lastFour: 'WXYZ', revokedAt: null });
  expect(JSON.stringify(apiKey)).not.toContain('ssss');
});

test('mayUse asks for the scope itself, or for admin', () => {
  expect(mayUse({ scopes: ['agents:read'] }, 'agents:read')).toBe(true);
  expect(mayUse({ scopes: ['agents:read'] }, 'agents:write')).toBe(false);
  expect(mayUse({ scopes: ['admin'] }, 'agents:write')).toBe(true);
  expect(mayUse({ scopes: [] }, 'agents:read')).toBe(false);
});

test.each([
  ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', true],
  ['whsec_C2FVsBQIhrscChlQIMV+/w==', true],
  ['whsec_C2FVsBQIhrscChlQIMV+/w', false],
  ['MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', false],
  ['whsec_', false],
  ['whsec_c2hvcnQ=', false],
  ['whsec_four words, which are no Base64', false],
])('isSigningSecret("%s") is %s', (text, expected) => {
  expect(isSigningSecret(text)).toBe(expected);
});

import { expect, test } from 'vitest';
import {
  checkRecordingLink,
  recordingLink,
  signRecordingLink,
} from '../../src/domain/call/recording-link.ts';

const SECRET = 'a secret of thirty-two characters';

const EXPIRES_AT = new Date('2026-11-21T12:00:00.000Z');

const BEFORE = new Date(EXPIRES_AT.getTime() - 1);

const proof = signRecordingLink('call_1', EXPIRES_AT, SECRET);

function check(changes: {
  readonly callId?: string;
  readonly expires?: string;
  readonly signature?: string;
  readonly now?: Date;
  readonly secret?: string;
}): () => void {
  const { callId = 'call_1', now = BEFORE, secret = SECRET, ...rest } = changes;
  return () => checkRecordingLink(callId, { ...proof, ...rest }, { secret, now });
}

test('checkRecordingLink takes a genuine link until it expires', () => {
  expect(check({})).not.toThrow();
  expect(check({ now: EXPIRES_AT })).toThrow('expired');
});

test.each([
  ['of another call', { callId: 'call_2' }],
  ['with a later end', { expires: String(Number(proof.expires) + 1) }],
  ['with an end written otherwise', { expires: `0${proof.expires}` }],
  ['with another signature', { signature: proof.signature.replace(/.$/, 'x') }],
  ['with its signature in capitals', { signature: proof.signature.toUpperCase() }],
  ['with a short signature', { signature: proof.signature.slice(1) }],
  ['with no signature', { signature: '' }],
  ['signed with another secret', { secret: 'another' }],
])('checkRecordingLink refuses a link %s', (_case, changes) => {
  expect(check(changes)).toThrow(
    expect.objectContaining({ code: 'FORBIDDEN', message: expect.stringContaining('genuine') }),
  );
});

test('recordingLink makes a link that checkRecordingLink takes', () => {
  const publicUrl = 'https://voice.example/phone';

  const link = recordingLink('call_1', { publicUrl, secret: SECRET, expiresAt: EXPIRES_AT });

  const { href, searchParams } = new URL(link);
  expect(href).toMatch(/^https:\/\/voice\.example\/phone\/api\/calls\/call_1\/recording\?/);
  expect(Object.fromEntries(searchParams)).toEqual(proof);
  expect(check(Object.fromEntries(searchParams))).not.toThrow();
});

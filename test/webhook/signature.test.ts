import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { type SigningKeys, signatureHeaders } from '../../src/webhook/signature.ts';
import { describeWith } from '../support/server/programs.ts';
import {
  opensslHeaders,
  readVectors,
  type Vector,
  type Verdict,
} from '../support/webhook/webhook-vectors.ts';

const vectors = readVectors();

/** Those that arrive as they were sent. */
const untouched = vectors.filter(({ name }) => !/changed|signatures/.test(name));

interface Content {
  readonly id: string;
  readonly timestamp: number;
  readonly body: string;
}

function headersOf({ id, timestamp, body }: Content, keys: SigningKeys): Record<string, string> {
  return signatureHeaders({ id, timestamp: String(timestamp), body }, keys);
}

/** A receiver that follows the specification. */
function serviceVerdict({ headers, body, receiverSecret, receivedAt }: Vector): Verdict {
  const timestamp = headers['X-Service-Timestamp'] ?? '';
  const hmac = createHmac('sha256', receiverSecret).update(`${timestamp}.${body}`);
  if (hmac.digest('hex') !== headers['X-Service-Signature']) return 'wrong signature';
  return receivedAt - Number(timestamp) > 300 ? 'too old' : 'valid';
}

/** A receiver that uses the library, whose own clock is not the vector's. */
function standardVerdict(vector: Vector): Verdict {
  const { headers, body, receivedAt, receiverStandardKeyHex } = vector;
  const webhook = new Webhook(Buffer.from(receiverStandardKeyHex, 'hex'), { format: 'raw' });
  const seconds = Number(headers['webhook-timestamp']);
  const expected = webhook.sign(headers['webhook-id'] ?? '', new Date(seconds * 1000), body);
  const isSigned = headers['webhook-signature']?.split(' ').includes(expected) === true;
  if (!isSigned) return 'wrong signature';
  return receivedAt - seconds > 300 ? 'too old' : 'valid';
}

test('webhook-vectors.json has what a client library must get right', () => {
  const verdicts = new Set(vectors.flatMap(({ service, standard }) => [service, standard]));

  expect(vectors.length).toBeGreaterThanOrEqual(12);
  expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length);
  expect([...verdicts].sort()).toEqual(['too old', 'valid', 'wrong signature']);
});

test.each(untouched)('signatureHeaders makes the headers of: $name', (vector) => {
  const headers = headersOf(vector, vector);

  expect(headers).toEqual(vector.headers);
});

test.each(vectors)('receivers find the verdicts of: $name', (vector) => {
  const found = { service: serviceVerdict(vector), standard: standardVerdict(vector) };

  expect(found).toEqual({ service: vector.service, standard: vector.standard });
});

describeWith(['openssl'], 'openssl', () => {
  test.each(untouched)('openssl makes the headers of: $name', (vector) => {
    const headers = opensslHeaders(vector);

    expect(headers).toEqual(vector.headers);
  });
});

test('signatureHeaders convinces the Standard Webhooks library, with the newest secret and the one before', () => {
  const secret = fc
    .uint8Array({ minLength: 1, maxLength: 64 })
    .map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`);
  const id = fc.stringMatching(/^[A-Za-z0-9]{1,24}$/).map((text) => `evt_${text}`);
  const content = fc.tuple(id, fc.json({ stringUnit: 'binary' }), secret, secret);

  const check = fc.property(content, ([eventId, body, current, previous]) => {
    const timestamp = Math.floor(Date.now() / 1000);
    const keys = { secret: current, otherSecrets: [previous] };
    const headers = headersOf({ id: eventId, timestamp, body }, keys);
    for (const known of [current, previous]) {
      expect(new Webhook(known).verify(body, headers)).toEqual(JSON.parse(body));
    }
  });

  fc.assert(check, { numRuns: 2000, seed: 3 });
});

test('signatureHeaders takes the text of a chosen secret as its key, as the library does by its raw format', () => {
  const chosen = 'whsec_four words, no Base64';
  const timestamp = Math.floor(Date.now() / 1000);

  const headers = headersOf({ id: 'evt_1', timestamp, body: '{}' }, keysOf(chosen));

  expect(() => new Webhook(chosen)).toThrow();
  expect(new Webhook(chosen, { format: 'raw' }).verify('{}', headers)).toEqual({});
});

function keysOf(secret: string): SigningKeys {
  return { secret, otherSecrets: [] };
}

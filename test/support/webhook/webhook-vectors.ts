/**
 * Signatures of webhooks, made by openssl and never by our own code. `node test/support/webhook/webhook-vectors.ts`
 * regenerates `test/fixtures/webhook-vectors.json`, for our tests and for those of the client libraries.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export type Verdict = 'valid' | 'wrong signature' | 'too old';

export interface Vector {
  readonly name: string;
  /** The secret that the service signs with. */
  readonly secret: string;
  /** Sign the Standard Webhooks header as well: the prepared one, and the previous one. */
  readonly otherSecrets: readonly string[];
  /** The secret that the receiver has. */
  readonly receiverSecret: string;
  /** The key of the Standard Webhooks signature with the receiver's secret, hexadecimal. */
  readonly receiverStandardKeyHex: string;
  readonly id: string;
  /** Unix seconds. */
  readonly timestamp: number;
  /** When it is received, Unix seconds. */
  readonly receivedAt: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What a receiver finds by each of the two ways. */
  readonly service: Verdict;
  readonly standard: Verdict;
}

const FILE = fileURLToPath(new URL('../../fixtures/webhook-vectors.json', import.meta.url));

export function readVectors(): readonly Vector[] {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Vector[];
}

/** HMAC-SHA256 by openssl, hexadecimal. */
export function opensslHmac(keyHex: string, content: string): string {
  const args = ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${keyHex}`, '-r'];
  return execFileSync('openssl', args, { input: content }).toString().slice(0, 64);
}

/** What the service sends. */
export function opensslHeaders(vector: {
  readonly secret: string;
  readonly otherSecrets: readonly string[];
  readonly id: string;
  readonly timestamp: number;
  readonly body: string;
}): Record<string, string> {
  const { id, timestamp, body } = vector;
  const standard = (secret: string) => {
    const hex = opensslHmac(standardKeyHex(secret), `${id}.${timestamp}.${body}`);
    return `v1,${Buffer.from(hex, 'hex').toString('base64')}`;
  };
  const secrets = [vector.secret, ...vector.otherSecrets];
  const literal = Buffer.from(vector.secret).toString('hex');
  return {
    'X-Service-Timestamp': String(timestamp),
    'X-Service-Signature': opensslHmac(literal, `${timestamp}.${body}`),
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': secrets.map(standard).join(' '),
  };
}

/** The keys are written down by hand here, so that no rule of ours decides what is Base64. */
const STANDARD_KEYS: Readonly<Record<string, string>> = {
  whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw: '31f290f6bf06298aab4f08d43c3f082cf648a362da2da4b0',
  whsec_C2FVsBQIhrscChlQIMV12uqXNfiZG0aG: '0b6155b0140886bb1c0a195020c575daea9735f8991b4686',
  'whsec_C2FVsBQIhrscChlQIMV+/w==': '0b6155b0140886bb1c0a195020c57eff',
  'whsec_chosen by the operator!': '77687365635f63686f73656e20627920746865206f70657261746f7221',
  C2FVsBQIhrscChlQIMV12uqXNfiZG0aG: '0b6155b0140886bb1c0a195020c575daea9735f8991b4686',
};

function standardKeyHex(secret: string): string {
  const key = STANDARD_KEYS[secret];
  if (key === undefined)
    throw new RangeError(`Cannot sign with "${secret}": its key is not listed`);
  return key;
}

const ONE = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER = 'whsec_C2FVsBQIhrscChlQIMV12uqXNfiZG0aG';
const SENT_AT = 1_795_176_000;

type Draft = Partial<Omit<Vector, 'headers' | 'receiverStandardKeyHex'>> & {
  readonly name: string;
  /** What happens to the delivery on its way. */
  readonly forged?: Readonly<Record<string, string>>;
  readonly forgedBody?: string;
};

function envelope(data: unknown): string {
  const createdAt = '2026-11-20T12:00:00.000Z';
  return JSON.stringify({
    event: 'call.ended',
    id: 'evt_0Vq9Ga1sLd7f2kQx8mRt4Zyb',
    createdAt,
    data,
  });
}

const PLAIN = envelope({ callId: 'call_1', durationSeconds: 63, endReason: 'user_hangup' });

const DRAFTS: readonly Draft[] = [
  { name: 'a plain event' },
  { name: 'letters outside ASCII', body: envelope({ text: 'Zoë says “grüß Gott” 📞 こんにちは' }) },
  { name: 'escaped letters stay escaped', body: envelope({}).replace('{}', '{"t":"\\u00e9\\n"}') },
  { name: 'empty data', body: envelope({}) },
  { name: 'a long body', body: envelope({ text: 'word '.repeat(4000) }) },
  { name: 'white space around the JSON', body: ` ${PLAIN}\r\n\n` },
  { name: 'an empty body', body: '' },
  { name: 'a secret with padding', secret: 'whsec_C2FVsBQIhrscChlQIMV+/w==' },
  { name: 'a chosen secret that is no Base64', secret: 'whsec_chosen by the operator!' },
  { name: 'a secret without its prefix', secret: OTHER.slice('whsec_'.length) },
  { name: 'the first instant of Unix time', timestamp: 0, receivedAt: 0 },
  { name: 'while a new secret is prepared, with the current one', otherSecrets: [OTHER] },
  {
    name: 'while a new secret is prepared, with that',
    otherSecrets: [OTHER],
    receiverSecret: OTHER,
    service: 'wrong signature',
  },
  { name: 'after an activation, with the new secret', secret: OTHER, otherSecrets: [ONE] },
  {
    name: 'after an activation, with the secret from before',
    secret: OTHER,
    otherSecrets: [ONE],
    receiverSecret: ONE,
    service: 'wrong signature',
  },
  { name: 'five minutes old', receivedAt: SENT_AT + 300 },
  {
    name: 'older than five minutes',
    receivedAt: SENT_AT + 301,
    service: 'too old',
    standard: 'too old',
  },
  {
    name: 'another secret',
    receiverSecret: OTHER,
    service: 'wrong signature',
    standard: 'wrong signature',
  },
  {
    name: 'a changed body',
    forgedBody: PLAIN.replace('63', '64'),
    service: 'wrong signature',
    standard: 'wrong signature',
  },
  {
    name: 'a changed timestamp',
    forged: {
      'X-Service-Timestamp': String(SENT_AT + 1),
      'webhook-timestamp': String(SENT_AT + 1),
    },
    service: 'wrong signature',
    standard: 'wrong signature',
  },
  {
    name: 'a changed id, which only Standard Webhooks signs',
    forged: { 'webhook-id': 'evt_0Vq9Ga1sLd7f2kQx8mRt4Zyc' },
    standard: 'wrong signature',
  },
  {
    name: 'signatures of the right length',
    forged: {
      'X-Service-Signature': 'a'.repeat(64),
      'webhook-signature': `v1,${'A'.repeat(43)}=`,
    },
    service: 'wrong signature',
    standard: 'wrong signature',
  },
  {
    name: 'signatures that are empty',
    forged: { 'X-Service-Signature': '', 'webhook-signature': '' },
    service: 'wrong signature',
    standard: 'wrong signature',
  },
];

function vectorOf({ forged = {}, forgedBody, ...draft }: Draft): Vector {
  const secret = draft.secret ?? ONE;
  const receiverSecret = draft.receiverSecret ?? secret;
  const sent = {
    secret,
    otherSecrets: draft.otherSecrets ?? [],
    id: 'evt_0Vq9Ga1sLd7f2kQx8mRt4Zyb',
    timestamp: draft.timestamp ?? SENT_AT,
    body: draft.body ?? PLAIN,
  };
  return {
    name: draft.name,
    ...sent,
    receiverSecret,
    receiverStandardKeyHex: standardKeyHex(receiverSecret),
    receivedAt: draft.receivedAt ?? SENT_AT + 2,
    body: forgedBody ?? sent.body,
    headers: { ...opensslHeaders(sent), ...forged },
    service: draft.service ?? 'valid',
    standard: draft.standard ?? 'valid',
  };
}

if (import.meta.main) {
  writeFileSync(FILE, `${JSON.stringify(DRAFTS.map(vectorOf), null, 2)}\n`);
}

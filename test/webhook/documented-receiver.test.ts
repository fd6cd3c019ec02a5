import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { signatureHeaders } from '../../src/webhook/signature.ts';
import { readVectors } from '../support/webhook/webhook-vectors.ts';

type IsGenuine = (
  body: Buffer,
  headers: Readonly<Record<string, string>>,
  secret: string,
  nowMs: number,
) => boolean;

/** The code in `docs/webhooks.md`, as it stands there. */
function documentedCode(): readonly string[] {
  const page = readFileSync(join(import.meta.dirname, '../../docs/webhooks.md'), 'utf8');
  return [...page.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code = '']) => code);
}

function load(code: string) {
  return import(`data:text/javascript,${encodeURIComponent(code)}`);
}

/** The function that customers are told to use. */
async function documentedReceiver(): Promise<IsGenuine> {
  return (await load(documentedCode()[0] ?? '')).isGenuine;
}

test.each(
  readVectors(),
)('the documented receiver judges $name as the vectors do', async (vector) => {
  const isGenuine = await documentedReceiver();
  const headers = Object.fromEntries(
    Object.entries(vector.headers).map(([name, value]) => [name.toLowerCase(), value]),
  );

  const verdict = isGenuine(
    Buffer.from(vector.body),
    headers,
    vector.receiverSecret,
    vector.receivedAt * 1000,
  );

  expect(verdict).toBe(vector.service === 'valid');
});

test.each([
  ['before the activation', 'whsec_old', true],
  ['after it', 'whsec_new', true],
  ['by neither secret', 'whsec_other', false],
])('the documented receiver of a change of secrets judges deliveries signed %s', async (_when, secret, expected) => {
  vi.stubEnv('WEBHOOK_SECRET', 'whsec_old');
  vi.stubEnv('WEBHOOK_SECRET_NEXT', 'whsec_new');
  const { isKnown } = await load(`${documentedCode().join('\n')}\nexport { isKnown };`);
  const content = { id: 'evt_1', timestamp: String(Math.floor(Date.now() / 1000)), body: '{}' };
  const headers = signatureHeaders(content, { secret, otherSecrets: [] });

  const isTaken = isKnown(Buffer.from(content.body), {
    'x-service-timestamp': headers['X-Service-Timestamp'],
    'x-service-signature': headers['X-Service-Signature'],
  });

  vi.unstubAllEnvs();
  expect(isTaken).toBe(expected);
});

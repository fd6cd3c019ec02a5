import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readVectors } from '../support/webhook-vectors.ts';

type IsGenuine = (
  body: Buffer,
  headers: Readonly<Record<string, string>>,
  secret: string,
  nowMs: number,
) => boolean;

/** The function that `docs/webhooks.md` tells customers to use, as it stands there. */
async function documentedReceiver(): Promise<IsGenuine> {
  const page = readFileSync(join(import.meta.dirname, '../../docs/webhooks.md'), 'utf8');
  const code = /```js\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
  const module = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  return module.isGenuine;
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

/** The page asks for a ticket as the session that it has, for the account and environment that are shown. */
import { expect, test } from 'vitest';
import { ApiClient } from '../../../src/dashboard/api-client.ts';

test('ApiClient.phoneTicket names agent, account, environment and whether it is the draft, with the session’s token', async () => {
  const asked: { readonly path: string; readonly init: RequestInit | undefined }[] = [];
  const client = new ApiClient({
    fetch: async (input, init) => {
      asked.push({ path: String(input), init });
      return Response.json({ csrfToken: 'csrf', accounts: [], isSetUp: true, ticket: 'abc' });
    },
    nowMs: () => 0,
    onSignedOut: () => undefined,
  });
  await client.restore();
  client.use({ accountId: 'acc_1', environment: 'test' });

  await client.phoneTicket('agent_1', true);

  const { path, init } = asked.at(-1) ?? {};
  expect(path).toBe('dashboard/phone');
  expect(init?.headers).toMatchObject({ 'X-CSRF-Token': 'csrf' });
  expect(JSON.parse(String(init?.body))).toEqual({
    accountId: 'acc_1',
    environment: 'test',
    agentId: 'agent_1',
    draft: true,
  });
});

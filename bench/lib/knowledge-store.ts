/** An empty database with one agent, for documents. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KEEP_CALLS } from '../../src/domain/account/account.ts';
import { newSigningSecret } from '../../src/domain/account/api-key.ts';
import { createAgent } from '../../src/domain/agent/agent-rules.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/lib/logger.ts';
import { openStore } from '../../src/store/store.ts';

const SCOPE = { accountId: 'acct_1', environment: 'live' } as const;

const AGENT_ID = 'agent_1';

/** @returns the store, its file, the agent, and what removes the folder once the store is closed. */
export async function openKnowledgeStore() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-knowledge-'));
  const file = join(folder, 'offhook.db');
  const now = systemClock.now();
  const store = await openStore({ file, clock: systemClock, log: silentLogger });
  await store.accounts.found({
    account: {
      ...{ id: SCOPE.accountId, name: 'bench', plan: 'enterprise', minutesIncluded: 0 },
      ...{ transferTargets: [], allowedCountries: null, callingHours: null },
      ...{ retention: KEEP_CALLS, createdAt: now },
    },
    signingSecrets: { live: newSigningSecret(randomBytes), test: newSigningSecret(randomBytes) },
    apiKeys: [],
  });
  const draft = { name: 'Reader', greeting: 'Hello.', systemPrompt: 'You answer questions.' };
  await store.agents.insert(createAgent(draft, { id: AGENT_ID, scope: SCOPE, now }));
  return { store, file, agentId: AGENT_ID, remove: () => rmSync(folder, { recursive: true }) };
}

/** Calls for tests: say what matters, the rest is filled in. */
import type { Call } from '../../../src/domain/call/call.ts';

export function buildCall(fields: Partial<Call> = {}): Call {
  return {
    id: 'call_1',
    accountId: 'acct_1',
    environment: 'live',
    agentId: 'agent_1',
    direction: 'inbound',
    status: 'ringing',
    from: '+390612345678',
    to: '+15550100001',
    createdAt: new Date('2026-11-20T12:00:00.000Z'),
    startedAt: new Date('2026-11-20T12:00:00.000Z'),
    answeredAt: null,
    endedAt: null,
    endReason: null,
    failureReason: null,
    sipStatus: null,
    notBeforeAt: null,
    notAfterAt: null,
    expiresAt: null,
    durationSeconds: 0,
    carrierCallSid: 'abc@192.0.2.1',
    recordingFile: null,
    recordingTruncated: false,
    summary: null,
    sentiment: null,
    sentimentScore: null,
    intentDetected: null,
    extracted: null,
    success: null,
    metadata: {},
    overrides: {},
    scenario: null,
    ...fields,
  };
}

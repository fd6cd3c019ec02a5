/** Messages and gateways for tests: say what matters, the rest is filled in. */
import type { SmsGateway } from '../../../src/domain/sms/sms-gateway.ts';
import type { SmsMessage } from '../../../src/domain/sms/sms-message.ts';

export function buildSms(fields: Partial<SmsMessage> = {}): SmsMessage {
  return {
    id: 'sms_1',
    accountId: 'acct_1',
    environment: 'live',
    callId: 'call_1',
    gateway: 'main',
    to: '+393331234567',
    text: 'Your code is 4711.',
    status: 'accepted',
    reason: null,
    providerId: null,
    createdAt: new Date('2026-11-20T12:00:00.000Z'),
    updatedAt: new Date('2026-11-20T12:00:00.000Z'),
    ...fields,
  };
}

export function buildSmsGateway(fields: Partial<SmsGateway> = {}): SmsGateway {
  return {
    id: 'smsgw_1',
    accountId: 'acct_1',
    environment: 'live',
    name: 'main',
    kind: 'http',
    preset: 'webhook',
    from: '+393339999999',
    username: null,
    secret: null,
    url: 'https://sms.example.com/',
    template: null,
    allowedLinks: [],
    dailyMax: 200,
    timeoutMs: 8000,
    createdAt: new Date('2026-11-20T10:00:00.000Z'),
    updatedAt: new Date('2026-11-20T10:00:00.000Z'),
    ...fields,
  };
}

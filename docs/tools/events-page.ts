/** The reference of webhook events: when each is sent, and a body as the server makes it. */
import { EVENT_BODIES } from '../../src/api/routes/event-routes.ts';
import type { Call } from '../../src/domain/call/call.ts';
import {
  appointmentBookedEvent,
  callBridgedEvent,
  callEndedEvent,
  callStartedEvent,
  callTranscribedEvent,
} from '../../src/domain/call/call-events.ts';
import { SERVICE_EVENT_KINDS, type ServiceEvent } from '../../src/domain/webhook/service-event.ts';
import { testEvent, type WebhookEndpoint } from '../../src/domain/webhook/webhook-endpoint.ts';
import { buildCall } from '../../test/support/store/build-call.ts';
import { codeBlock, page } from './markdown.ts';

const AT = new Date('2026-11-20T12:01:40.000Z');

const CALL: Call = buildCall({
  id: 'call_0VbZOZK8iLGcXSKvcmQMdaX5',
  agentId: 'agent_0VbZOZK8iLGcXSKvcmQMdaX5',
  status: 'completed',
  answeredAt: new Date('2026-11-20T12:00:02.000Z'),
  endedAt: AT,
  durationSeconds: 98,
  endReason: 'user_hangup',
  sipStatus: 200,
  summary: 'The caller booked a check-up.',
  sentiment: 'positive',
  intentDetected: 'book_appointment',
});

/** An event of each kind, as the server itself makes it. */
export function exampleEvents(): readonly ServiceEvent[] {
  const stamp = { id: 'evt_0VbZOZK8iLGcXSKvcmQMdaX5', now: AT };
  const transcript = [
    { role: 'agent', text: 'Hello, how can I help you?', at: new Date('2026-11-20T12:00:03.000Z') },
    {
      role: 'user',
      text: 'I need a check-up.',
      at: new Date('2026-11-20T12:00:06.000Z'),
      confidence: 0.94,
    },
  ] as const;
  const recordingUrl = `https://voice.example.com/api/calls/${CALL.id}/recording`;
  return [
    callStartedEvent(CALL, stamp),
    callEndedEvent(CALL, stamp),
    callTranscribedEvent(CALL, { transcript, recordingUrl }, stamp),
    appointmentBookedEvent(CALL, APPOINTMENT, stamp),
    callBridgedEvent(CALL, BRIDGE, stamp),
    testEvent(ENDPOINT, stamp),
  ];
}

const APPOINTMENT = {
  ...{ id: 'appt_0VbZOZK8iLGcXSKvcmQMdaX5', title: 'Check-up', calendarId: 'practice' },
  startTime: new Date('2026-11-24T09:00:00.000Z'),
  endTime: new Date('2026-11-24T09:30:00.000Z'),
  ...{ attendeePhone: '+390612345678', attendeeName: 'Anna Conti', confirmed: true },
};

const BRIDGE = {
  bridgedTo: '+390698765432',
  bridgedAt: AT,
  agentRole: 'left',
  qualificationSummary: 'Wants to move an appointment.',
} as const;

const ENDPOINT: WebhookEndpoint = {
  ...{ id: 'we_0VbZOZK8iLGcXSKvcmQMdaX5', accountId: CALL.accountId, environment: 'live' },
  ...{ url: 'https://example.com/hooks', events: ['call.ended'], description: '' },
  ...{ status: 'active', disabledReason: null, createdAt: AT, updatedAt: AT },
};

export function eventsPage(): string {
  const events = exampleEvents();
  const sections = SERVICE_EVENT_KINDS.flatMap((kind) => {
    const event = events.find((each) => each.kind === kind);
    if (event === undefined) throw new Error(`Cannot show "${kind}": it has no example`);
    const body = JSON.stringify(JSON.parse(event.body), null, 2);
    return [`## ${kind}`, `${EVENT_BODIES[kind].when}.`, codeBlock('json', body)];
  });
  return page('Webhook events', [
    'Bodies as endpoints receive them. Signature, repetition and resending: [Webhooks](../webhooks.md). The type of each field is in the OpenAPI document, `/api/openapi.json`, under `webhooks`.',
    ...sections,
  ]);
}

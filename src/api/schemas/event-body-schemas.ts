/** The bodies of the events that webhook endpoints receive, for the documentation. */
import { z } from '@hono/zod-openapi';
import type { ServiceEventKind } from '../../domain/webhook/service-event.ts';
import {
  answeredAtSchema,
  answeredBySchema,
  directionSchema,
  durationSchema,
  endReasonSchema,
  failureReasonSchema,
  sipStatusSchema,
  startedAtSchema,
  transcriptEntrySchema,
} from './call-schemas.ts';

const timestamp = z.iso.datetime();

const ofCall = {
  callId: z.string().openapi({ example: 'call_0VbZOZK8iLGcXSKvcmQMdaX5' }),
  agentId: z.string(),
};

const parties = { ...ofCall, direction: directionSchema, from: z.string(), to: z.string() };

const carrierCallSid = z.string().openapi({
  description: "The carrier's identifier of the call; empty when the call never reached a carrier.",
});

const callStarted = z.object({ ...parties, startedAt: startedAtSchema, carrierCallSid });

const callEnded = z.object({
  ...parties,
  startedAt: startedAtSchema,
  endedAt: timestamp,
  durationSeconds: durationSchema,
  endReason: endReasonSchema,
  carrierCallSid,
  answeredAt: answeredAtSchema,
  answeredBy: answeredBySchema,
  failureReason: failureReasonSchema,
  sipStatus: sipStatusSchema,
});

const callTranscribed = z.object({
  ...ofCall,
  durationSeconds: durationSchema,
  transcript: z.array(transcriptEntrySchema),
  summary: z.string().nullable(),
  sentiment: z.enum(['positive', 'neutral', 'negative']).nullable(),
  intentDetected: z.string().nullable(),
  extracted: z.record(z.string(), z.unknown()).optional().openapi({
    description: 'What the `extract` of the agent asks for; there only where it was found.',
  }),
  success: z.object({ met: z.boolean(), reason: z.string() }).optional().openapi({
    description:
      'Whether the `successCriteria` of the agent were met; there only where the call was judged.',
  }),
  recordingUrl: z.string().openapi({ description: 'Empty when there is no recording.' }),
  recordingTruncated: z.literal(true).optional().openapi({
    description:
      'There only where the recording ends before the call does, because the disk took no more.',
  }),
});

const appointmentBooked = z.object({
  ...ofCall,
  appointment: z.object({
    id: z.string(),
    title: z.string(),
    startTime: timestamp,
    endTime: timestamp,
    attendeePhone: z.string(),
    attendeeName: z.string(),
    calendarId: z.string(),
    confirmed: z.boolean(),
  }),
});

const callBridged = z.object({
  callId: ofCall.callId,
  bridgedTo: z.string(),
  bridgedAt: timestamp,
  qualificationSummary: z.string(),
  agentRole: z.enum(['observer', 'participant', 'left']),
});

const webhookTest = z.object({
  endpointId: z.string().openapi({ example: 'we_0VbZOZK8iLGcXSKvcmQMdaX5' }),
});

interface EventDocs {
  readonly when: string;
  readonly schema: ReturnType<typeof bodyOf>;
}

/** Each kind's body, and when it is sent. */
export const EVENT_BODIES: Readonly<Record<ServiceEventKind, EventDocs>> = {
  'call.started': {
    when: 'A caller was picked up, or a callee answered',
    schema: bodyOf('call.started', 'CallStartedEvent', callStarted),
  },
  'call.ended': {
    when: 'A call ended, for whichever reason',
    schema: bodyOf('call.ended', 'CallEndedEvent', callEnded),
  },
  'call.transcribed': {
    when: 'The whole transcript of an ended call is there, with what was made of it',
    schema: bodyOf('call.transcribed', 'CallTranscribedEvent', callTranscribed),
  },
  'appointment.booked': {
    when: 'The agent booked an appointment during a call',
    schema: bodyOf('appointment.booked', 'AppointmentBookedEvent', appointmentBooked),
  },
  'call.bridged': {
    when: 'The caller and another party were connected',
    schema: bodyOf('call.bridged', 'CallBridgedEvent', callBridged),
  },
  'webhook.test': {
    when: 'A test was asked for; sent to that endpoint alone, whichever kinds it names',
    schema: bodyOf('webhook.test', 'WebhookTestEvent', webhookTest),
  },
};

function bodyOf(kind: ServiceEventKind, name: string, data: z.ZodObject) {
  return z
    .object({
      event: z.literal(kind),
      id: z.string().openapi({
        description: 'The same in every attempt: receivers pass over one they have seen.',
        example: 'evt_0VbZOZK8iLGcXSKvcmQMdaX5',
      }),
      createdAt: timestamp,
      data,
    })
    .openapi(name);
}

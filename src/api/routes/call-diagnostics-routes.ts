/** Routes of a call's diagnostics: `/api/calls/{callId}/quality` with packet loss, jitter and MOS, and its SIP trace. */
import { z } from '@hono/zod-openapi';
import type { CallSipTrace, SipTraceMessage } from '../../domain/call/sip-trace.ts';
import { type ApiApp, type ApiDeps, scopeOf } from '../api-env.ts';
import { jsonResponse, routesOf } from '../http/describe-route.ts';
import { existing } from '../http/errors.ts';
import { viewOf } from '../serializers.ts';

const count = z.int().min(0);
const percent = z.number().min(0).max(100);
const milliseconds = z.number().min(0);

const localSchema = z
  .object({
    packetsSent: count,
    packetsUnsent: count.openapi({
      description: 'Were due, but the system of this server did not take them: lost.',
    }),
    packetsReceived: count,
    packetsLost: count,
    packetsLate: count.openapi({
      description: 'Came when their place had been filled with silence already, or twice.',
    }),
    packetsRejected: count.openapi({ description: 'Came from somebody else, or made no sense.' }),
    lossPercent: percent.openapi({ description: 'Of what should have come: lost or late.' }),
    jitterMs: milliseconds,
  })
  .openapi('LocalQuality');

const remoteSchema = z
  .object({
    packetsSent: count.openapi({ description: 'By us, when the newest report came.' }),
    packetsLost: count,
    lossPercent: percent,
    jitterMs: milliseconds,
    roundTripMs: milliseconds
      .nullable()
      .openapi({ description: 'The mean; null where it could not be measured.' }),
    roundTripMsMax: milliseconds.nullable(),
  })
  .openapi('RemoteQuality');

const callQualitySchema = z
  .object({
    codec: z.string().nullable().openapi({ example: 'PCMU' }),
    local: localSchema.nullable().openapi({ description: 'How the sound came to the server.' }),
    remote: remoteSchema
      .nullable()
      .openapi({ description: 'How ours came to the far end, by its RTCP; null without any.' }),
    mos: z
      .number()
      .min(1)
      .max(4.5)
      .nullable()
      .openapi({
        description:
          'Mean opinion score of the worse direction, by the E-model (ITU-T G.107) from loss, jitter and round trip: 4.4 is the best there is, ' +
          'under 3.6 many are dissatisfied.',
      }),
  })
  .openapi('CallQuality');

/** Quality of calls without figures: not answered, simulated, or lost with the server that held them. */
const UNKNOWN = { codec: null, local: null, remote: null, mos: null };

const readRoute = routesOf({ tag: 'Calls', scope: 'calls:read' });

const qualityRoute = readRoute('get', '/api/calls/{callId}/quality', {
  operationId: 'getCallQuality',
  summary: "Shows how well the call's sound travelled",
  description:
    'From our own reception and the far end’s RTCP, over the whole call; while it goes on, up to now. Every field is null where no packets were seen: ' +
    'the call was not answered, was simulated, or was cut off by a crash. Where FreeSWITCH faces the carrier, these are the figures between it and the server.',
  responses: { 200: jsonResponse('The quality of the call.', callQualitySchema) },
});

/** Adds `/api/calls/{callId}/quality`: loss, jitter and round trip of both directions. */
export function addQualityRoutes(api: ApiApp, deps: ApiDeps): void {
  api.openapi(qualityRoute, async (context) => {
    const { callId } = context.req.valid('param');
    const call = existing(await deps.calls.find(scopeOf(context), callId), 'call');
    const quality = (await deps.qualities.find(call.id)) ?? (await deps.liveSound.quality(call.id));
    return context.json(viewOf(callQualitySchema, quality ?? UNKNOWN), 200);
  });
}

const place = z.string().openapi({ description: 'Host and port.', example: '192.0.2.1:5060' });

const sipLadderSchema = z
  .object({
    messages: z
      .array(
        z.object({
          at: z.iso.datetime(),
          direction: z.enum(['in', 'out']),
          transport: z.enum(['UDP', 'TCP', 'TLS', 'WS', 'WSS']),
          from: place,
          to: place,
          startLine: z.string().openapi({ example: 'SIP/2.0 180 Ringing' }),
          cseq: z.string().openapi({ example: '1 INVITE' }),
          body: z.string().nullable().openapi({
            description: 'The Content-Type of its body; null where it has none.',
            example: 'application/sdp',
          }),
          text: z.string().openapi({
            description: 'The whole message. Credentials, passwords and media keys are removed.',
          }),
        }),
      )
      .openapi({ description: 'In the order in which they came and went, repeats among them.' }),
    truncated: z.boolean().openapi({
      description: 'Whether messages, or the ends of very long ones, are missing.',
    }),
    source: z.enum(['engine', 'none']),
    note: z
      .string()
      .nullable()
      .openapi({ description: 'Why there is nothing, and where to look; null where there is.' }),
  })
  .openapi('SipLadder');

const ladderRoute = readRoute('get', '/api/calls/{callId}/sip', {
  operationId: 'getCallSip',
  summary: 'Shows the SIP messages of a call',
  description:
    'Those of its dialog, also while it goes on: 100 messages and 64 KiB at most, the first and the last ones. Kept for 30 days. ' +
    'Where a drachtio server does the SIP, and for simulated calls, `source` is `none` and `note` says why.',
  responses: { 200: jsonResponse('The messages, oldest first.', sipLadderSchema) },
});

/** Adds `/api/calls/{callId}/sip`: the call's SIP messages, in order. */
export function addSipTraceRoutes(
  api: ApiApp,
  { calls, callTraces }: Pick<ApiDeps, 'calls' | 'callTraces'>,
): void {
  api.openapi(ladderRoute, async (context) => {
    const call = existing(
      await calls.find(scopeOf(context), context.req.valid('param').callId),
      'call',
    );
    return context.json(serializeSipTrace(await callTraces.of(call)), 200);
  });
}

type LadderView = z.infer<typeof sipLadderSchema>;

function serializeSipTrace({ messages, isTruncated, source, note }: CallSipTrace): LadderView {
  return { messages: messages.map(messageView), truncated: isTruncated, source, note };
}

function messageView(message: SipTraceMessage): LadderView['messages'][number] {
  const { at, direction, transport, from, to, text } = message;
  const [head = '', ...body] = text.split('\r\n\r\n');
  const hasBody = body.some((part) => part !== '');
  return {
    at: at.toISOString(),
    direction,
    transport,
    from,
    to,
    startLine: head.split('\r\n', 1)[0] ?? '',
    cseq: headerOf(head, 'cseq') ?? '',
    body: hasBody ? (headerOf(head, 'content-type|c') ?? null) : null,
    text,
  };
}

/** The value of the first header of one of these names, `long|short`. */
function headerOf(head: string, names: string): string | undefined {
  return new RegExp(`^(?:${names})[ \\t]*:[ \\t]*([^\\r\\n]*)`, 'im').exec(head)?.[1]?.trim();
}

/** `/api/calls/{callId}/quality`: how well a call's packets travelled. */
import { z } from '@hono/zod-openapi';
import { type ApiApp, type ApiDeps, scopeOf } from '../api-env.ts';
import { describeRoute } from '../http/describe-route.ts';
import { existing } from '../http/errors.ts';
import { callPathSchema } from '../schemas/call-schemas.ts';
import { jsonResponse } from '../schemas/json-content.ts';
import { viewOf } from '../serializers/view-of.ts';

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

/** Of a call that was not answered, was a simulated one, or was lost with the server that held it. */
const UNKNOWN = { codec: null, local: null, remote: null, mos: null };

const qualityRoute = describeRoute({
  tag: 'Calls',
  scope: 'calls:read',
  operationId: 'getCallQuality',
  method: 'get',
  path: '/api/calls/{callId}/quality',
  summary: "Shows how well the call's sound travelled",
  description:
    'From our own reception and the far end’s RTCP, over the whole call; while it goes on, up to now. Every field is null where no packets were seen: ' +
    'the call was not answered, was simulated, or was cut off by a crash. Where FreeSWITCH faces the carrier, these are the figures between it and the server.',
  request: { params: callPathSchema },
  responses: { 200: jsonResponse('The quality of the call.', callQualitySchema) },
});

export function addQualityRoutes(api: ApiApp, deps: ApiDeps): void {
  api.openapi(qualityRoute, async (context) => {
    const { callId } = context.req.valid('param');
    const call = existing(await deps.calls.find(scopeOf(context), callId), 'call');
    const quality = (await deps.qualities.find(call.id)) ?? (await deps.liveSound.quality(call.id));
    return context.json(viewOf(callQualitySchema, quality ?? UNKNOWN), 200);
  });
}

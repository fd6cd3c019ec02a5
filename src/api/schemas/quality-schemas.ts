/** What the quality of a call looks like: the one source of validation, types and documentation. */
import { z } from '@hono/zod-openapi';

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

export const callQualitySchema = z
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

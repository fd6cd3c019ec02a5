/** What the SIP messages of a call look like in answers: the one source of validation, types and documentation. */
import { z } from '@hono/zod-openapi';

const place = z.string().openapi({ description: 'Host and port.', example: '192.0.2.1:5060' });

export const sipLadderSchema = z
  .object({
    messages: z
      .array(
        z.object({
          at: z.iso.datetime(),
          direction: z.enum(['in', 'out']),
          transport: z.enum(['UDP', 'TCP', 'WS', 'WSS']),
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

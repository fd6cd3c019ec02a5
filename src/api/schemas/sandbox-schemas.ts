/** What a simulated caller looks like in the request and the answer. */
import { z } from '@hono/zod-openapi';
import {
  SANDBOX_SCENARIOS,
  SCENARIO_BY_DIGITS,
  scenarioNamed,
} from '../../domain/sandbox/sandbox-scenario.ts';

const byDigits = Object.entries(SCENARIO_BY_DIGITS)
  .map(([digits, name]) => `${digits} ${name}`)
  .join(', ');

export const inboundSandboxCallSchema = z
  .strictObject({
    agentId: z.string().openapi({ example: 'agent_0VbZOZK8iLGcXSKvcmQMdaX5' }),
    from: z.string().optional().openapi({
      description: 'Number of the caller, E.164. No real call is made.',
      example: '+15005550110',
    }),
    scenario: z
      .string()
      .refine(
        (text) => scenarioNamed(text) !== undefined,
        `expected two digits, or one of ${SANDBOX_SCENARIOS.join(', ')}`,
      )
      .optional()
      .openapi({
        pattern: `^(?:\\d\\d|${SANDBOX_SCENARIOS.join('|')})$`,
        description:
          `What the caller does: ${SANDBOX_SCENARIOS.join(', ')}, or two digits (${byDigits}). ` +
          'Without it the last two digits of `from` decide; other digits, or no `from`, mean friendly. ' +
          'busy and voicemail never ring in (422).',
        example: 'appointment',
      }),
  })
  .openapi('InboundSandboxCall');

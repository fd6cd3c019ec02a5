/** Which party the sandbox simulates, by the last two digits of its number; pure */
import { ServiceError } from '../service-error.ts';

/** By the last two digits of the number; every other number has the friendly party. */
export const SCENARIO_BY_DIGITS = {
  '00': 'no_answer',
  '01': 'busy',
  '02': 'hangup',
  '03': 'silent',
  '04': 'transfer',
  '05': 'appointment',
  '06': 'error',
  '07': 'voicemail',
} as const;

export const SANDBOX_SCENARIOS = [...Object.values(SCENARIO_BY_DIGITS), 'friendly'] as const;

export type SandboxScenario = (typeof SANDBOX_SCENARIOS)[number];

/** A line that is busy rings nobody up, and neither does a mailbox. */
const NEVER_RING_IN: readonly SandboxScenario[] = ['busy', 'voicemail'];

/** The party behind a number. */
export function scenarioOfNumber(number: string): SandboxScenario {
  return scenarioOfDigits(number.slice(-2));
}

/** The party of this name or of these two digits; undefined when it is neither. */
export function scenarioNamed(text: string): SandboxScenario | undefined {
  if (/^\d\d$/.test(text)) return scenarioOfDigits(text);
  return SANDBOX_SCENARIOS.find((name) => name === text);
}

/**
 * The party that rings in.
 *
 * @param facts.scenario a name or two digits; undefined: by the number.
 * @throws {ServiceError} UNPROCESSABLE for a party that rings nobody up.
 */
export function scenarioRingingIn(facts: {
  readonly from: string | undefined;
  readonly scenario: string | undefined;
}): SandboxScenario {
  const { from = '', scenario } = facts;
  const named = scenario === undefined ? undefined : scenarioNamed(scenario);
  const chosen = named ?? scenarioOfNumber(from);
  if (NEVER_RING_IN.includes(chosen)) {
    throw new ServiceError(
      'UNPROCESSABLE',
      `Cannot simulate the call: the party "${chosen}" can be called, and rings nobody up; name another in "scenario"`,
    );
  }
  return chosen;
}

function scenarioOfDigits(digits: string): SandboxScenario {
  return isScenarioDigits(digits) ? SCENARIO_BY_DIGITS[digits] : 'friendly';
}

function isScenarioDigits(digits: string): digits is keyof typeof SCENARIO_BY_DIGITS {
  return Object.hasOwn(SCENARIO_BY_DIGITS, digits);
}

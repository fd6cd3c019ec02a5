/** Scenarios of the sandbox: the simulated party, chosen by the last two digits of its number; pure */
import { unprocessable } from './service-error.ts';

/** Scenarios by the last two digits of the number; every other number has the friendly party. */
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

/** Parties that ring in by their name alone. */
const SCENARIOS_BY_NAME = ['message', 'card_number', 'own_tools'] as const;

/** Names of all simulated parties, as `scenario` takes them. */
export const SANDBOX_SCENARIOS = [
  ...Object.values(SCENARIO_BY_DIGITS),
  ...SCENARIOS_BY_NAME,
  'friendly',
] as const;

/** Name of a simulated party. */
export type SandboxScenario = (typeof SANDBOX_SCENARIOS)[number];

/** Parties that can only be called: a busy line and a mailbox place no calls. */
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
 * The party of a simulated inbound call.
 *
 * @param facts.scenario a name or two digits; undefined: by the number.
 * @throws {ServiceError} UNPROCESSABLE for a party that cannot call.
 */
export function scenarioRingingIn(facts: {
  readonly from: string | undefined;
  readonly scenario: string | undefined;
}): SandboxScenario {
  const { from = '', scenario } = facts;
  const named = scenario === undefined ? undefined : scenarioNamed(scenario);
  const chosen = named ?? scenarioOfNumber(from);
  if (NEVER_RING_IN.includes(chosen)) {
    throw unprocessable(
      `Cannot simulate the call: the party "${chosen}" can only be called; name another in "scenario"`,
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

/** One step of a simulated party during a call. */
export type PartyStep =
  /** Lets the agent speak, until it has come to an end or the party loses patience. */
  | { readonly kind: 'listen' }
  /** Speaks; a tone right after the words is a mailbox's. */
  | { readonly kind: 'say'; readonly text: string; readonly toneMs?: number }
  /** Presses telephone keys. */
  | { readonly kind: 'press'; readonly digits: string }
  /** Does nothing for a while. */
  | { readonly kind: 'wait'; readonly waitMs: number }
  | { readonly kind: 'hang-up' }
  /** The network fails. */
  | { readonly kind: 'break' };

/** A party, from the first ring on. After the last step it stays on the line, silent. */
export interface PartyScript {
  readonly ringingMs: number;
  /** Final SIP status of a call that is never answered; null when somebody picks up. */
  readonly refusedWith: number | null;
  /** A wait that opens the script counts from the agent's first sound, or from so long after the answer; 12 s unless given. */
  readonly firstSoundMsMax?: number;
  readonly steps: readonly PartyStep[];
}

const listen = { kind: 'listen' } as const;
const hangUp = { kind: 'hang-up' } as const;
const say = (text: string) => ({ kind: 'say', text }) as const;

const goodbye = [say('Great, thank you. Goodbye.'), listen, hangUp] as const;

/** A number for trials, with the right check digit: no bank has issued it. */
export const SANDBOX_CARD = '4111111111111111';

const answering = { ringingMs: 2000, refusedWith: null } as const;

/** The agent's answers to these words are in `call/sandbox-rules.ts`. */
export const PARTY_SCRIPTS: Readonly<Record<SandboxScenario, PartyScript>> = {
  // Just short of the thirty seconds after which most networks give up by themselves.
  no_answer: { ringingMs: 28_000, refusedWith: 480, steps: [] },
  busy: { ringingMs: 1000, refusedWith: 486, steps: [] },
  hangup: { ...answering, steps: [{ kind: 'wait', waitMs: 600 }, hangUp] },
  silent: { ...answering, steps: [] },
  transfer: {
    ...answering,
    steps: [
      listen,
      say('Hello. I have a question about my contract, and I would like to speak to a person.'),
    ],
  },
  appointment: {
    ...answering,
    steps: [
      listen,
      say('Hello, this is Alex Morgan. I would like to book an appointment for tomorrow, please.'),
      listen,
      { kind: 'press', digits: '1' },
      listen,
      ...goodbye,
    ],
  },
  message: {
    ...answering,
    steps: [
      listen,
      say('Hello! Could you send me your address as a message, please?'),
      listen,
      ...goodbye,
    ],
  },
  card_number: {
    ...answering,
    steps: [
      listen,
      say('Hello! I would like to pay by card, please.'),
      listen,
      { kind: 'press', digits: `${SANDBOX_CARD}#` },
      listen,
      ...goodbye,
    ],
  },
  own_tools: {
    ...answering,
    steps: [listen, say('Hello! Could you please look that up for me?'), listen, ...goodbye],
  },
  error: {
    ...answering,
    steps: [
      listen,
      say('Hello, can you hear me? The line is very bad.'),
      { kind: 'wait', waitMs: 1500 },
      { kind: 'break' },
    ],
  },
  voicemail: {
    ...answering,
    // A mailbox waits for no greeting, and the agent may not give one before it knows who has answered.
    firstSoundMsMax: 1000,
    steps: [
      { kind: 'wait', waitMs: 500 },
      {
        kind: 'say',
        text: 'You have reached the mailbox of Alex Morgan. Please leave a message after the tone.',
        toneMs: 800,
      },
    ],
  },
  friendly: {
    ...answering,
    steps: [
      listen,
      say('Hello! What are your opening hours, please?'),
      listen,
      say('That is good to know. And where can I find you?'),
      listen,
      say('Perfect, thank you very much. Goodbye.'),
      listen,
      hangUp,
    ],
  },
};

/** All sentences of a party. */
export function partyLines(script: PartyScript): readonly string[] {
  return script.steps.flatMap((step) => (step.kind === 'say' ? [step.text] : []));
}

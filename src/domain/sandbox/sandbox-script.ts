/** What each party of the sandbox does, word for word; pure */
import type { SandboxScenario } from './sandbox-scenario.ts';

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
  readonly steps: readonly PartyStep[];
}

const listen = { kind: 'listen' } as const;
const hangUp = { kind: 'hang-up' } as const;
const say = (text: string) => ({ kind: 'say', text }) as const;

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
      say('Great, thank you. Goodbye.'),
      listen,
      hangUp,
    ],
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

/** Every sentence that some party says. */
export function partyLines(script: PartyScript): readonly string[] {
  return script.steps.flatMap((step) => (step.kind === 'say' ? [step.text] : []));
}

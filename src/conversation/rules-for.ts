/** Makes the turn machine's rules from what a conversation is given; pure */
import type { Clock } from '../lib/clock.ts';
import type { Toolbox } from '../tool/toolbox.ts';
import type { ConversationBrief } from './conversation-port.ts';
import { phrasesFor } from './reply/phrases.ts';
import { DEFAULT_TIMING, type TurnRules, type TurnTiming } from './turn/turn-rules.ts';

/** How a conversation takes turns. */
export interface RuleOptions {
  readonly brief: ConversationBrief;
  readonly tools: Toolbox;
  readonly clock: Clock;
  /** Whether answers are begun before the caller's turn is over; true unless given. */
  readonly mayThinkAhead?: boolean;
  /** How far the scores of the turn model are to be believed, from 0 to 1; 0 unless given. */
  readonly turnTrust?: number;
  /** Where the agent is called, ISO 3166-1 alpha-2; by the language's region unless given. */
  readonly country?: string;
  readonly timing?: Partial<TurnTiming>;
}

export function rulesFor(options: RuleOptions): TurnRules {
  const { brief, tools, clock } = options;
  return {
    brief,
    phrases: phrasesFor(brief.language),
    timing: { ...DEFAULT_TIMING, ...options.timing },
    mayThinkAhead: options.mayThinkAhead ?? true,
    turnTrust: options.turnTrust ?? 0,
    country: options.country ?? regionOf(brief.language),
    toolsAfterWords: tools.namesAfterWords,
    startedAt: clock.now(),
  };
}

/** `US` of `en-US`; null where the tag names none. */
function regionOf(language: string): string | null {
  return /-([A-Z]{2})\b/i.exec(language)?.[1]?.toUpperCase() ?? null;
}

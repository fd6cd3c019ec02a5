/** Greetings and fillers: synthesised before the first call of an agent. */
import { phrasesFor } from '../../conversation/reply/phrases.ts';
import type { AccountStore } from '../../domain/account/account-rules.ts';
import type { Agent, AgentStore } from '../../domain/agent/agent.ts';
import { filledIn, NO_VARIABLES } from '../../domain/agent/prompt-variables.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { SpeechRequest } from '../../speech/tts/pool/synthesizer.ts';

/** Newest changes first; the phrases of other agents are cached at their first call. */
const AGENTS_MAX = 100;

/** Pause between two phrases, so that calls come first. */
const BREATH_MS = 50;

interface Options {
  readonly store: {
    readonly accounts: Pick<AccountStore, 'list'>;
    readonly agents: Pick<AgentStore, 'list' | 'find'>;
  };
  readonly speech: { readonly synthesizer: { prepare(request: SpeechRequest): Promise<void> } };
  readonly log: Logger;
}

/** Begins to synthesise the greetings and fillers of active agents, one after the other. @returns a function that stops it; safe to call twice. */
export function startGreetings(options: Options): () => void {
  const stop = new AbortController();
  void prepareAll(options, stop.signal);
  return () => stop.abort(new Error('the server stops'));
}

async function prepareAll(options: Options, signal: AbortSignal): Promise<void> {
  const { store, log } = options;
  try {
    for (const agent of await activeAgents(store)) {
      for (const request of requestsOf(agent)) {
        if (signal.aborted) return;
        await prepareOne(request, options, signal);
        await new Promise<void>((resolve) => systemClock.after(BREATH_MS, resolve));
      }
    }
  } catch (error) {
    if (!signal.aborted) log.warn({ err: error }, 'set phrases could not be prepared');
  }
}

/** One phrase that cannot be spoken keeps no other from it. The first call of its agent prepares it again. */
async function prepareOne(
  request: SpeechRequest,
  { speech, log }: Options,
  signal: AbortSignal,
): Promise<void> {
  try {
    await speech.synthesizer.prepare({ ...request, signal });
  } catch (error) {
    const { voice, language } = request;
    if (!signal.aborted) log.warn({ err: error, voice, language }, 'set phrase not prepared');
  }
}

async function activeAgents({ accounts, agents }: Options['store']): Promise<readonly Agent[]> {
  const now = systemClock.now();
  const query = { status: 'active', limit: AGENTS_MAX, offset: 0 } as const;
  const found = [];
  for (const { id: accountId } of await accounts.list()) {
    // One account at a time, so that many do not hold up the start, nor calls.
    await new Promise(setImmediate);
    const scope = { accountId, environment: 'live' } as const;
    const page = await agents.list(scope, query, now);
    found.push(...page.items.map(({ id, updatedAt }) => ({ id, scope, updatedAt })));
  }
  found.sort((a, b) => b.updatedAt.getTime() - a.updatedAt.getTime());
  const newest = await Promise.all(
    found.slice(0, AGENTS_MAX).map(({ id, scope }) => agents.find(scope, id)),
  );
  return newest.filter((agent) => agent !== undefined);
}

function requestsOf({ greeting, voice, language, settings }: Agent): readonly SpeechRequest[] {
  const { pronunciations } = settings;
  // A call without values for the variables says their defaults.
  const texts = [filledIn(greeting, NO_VARIABLES), phrasesFor(language).filler];
  return texts.map((text) => ({ text, voice, language, pronunciations }));
}

/** Language models that agents may name, and the rule for the one that an agent names. */
import { bodyFault } from '../service-error.ts';
import type { Agent } from './agent.ts';

/** Longest name of a language model, in characters. */
export const MODEL_NAME_CHARS_MAX = 200;

/** One line of printable characters, without blanks around it. */
export const MODEL_NAME = /^[^\p{C}\s](?:[^\p{C}]*[^\p{C}\s])?$/u;

/** Names that the message of a refusal has. */
const SUGGESTIONS_MAX = 10;

/** The models that the server's language model engine has. */
export interface LanguageModels {
  /** Of what answers for agents that name none, such as `ollama/qwen3:4b`. */
  readonly ownName: string;

  /** Whether the engine has several models to choose from. */
  readonly isChoosable: boolean;

  /**
   * Lists the names that agents may give, within 2 s. Never rejects.
   *
   * @param options.isFresh asks the engine, however short ago it was asked.
   * @returns empty where there is nothing to choose, undefined while the engine does not answer.
   */
  names(options?: { readonly isFresh?: boolean }): Promise<readonly string[] | undefined>;
}

/**
 * Requires that the engine has the model that an agent is to have. A model that it has already stays, and while the engine does
 * not answer every name is taken: a call whose model is missing is answered by the server's own.
 *
 * @param model undefined where it does not change.
 * @param before the agent's model so far.
 * @throws {ServiceError} VALIDATION_ERROR naming models that there are.
 */
export async function requireKnownModel(
  model: Agent['model'] | undefined,
  before: Agent['model'],
  models: LanguageModels,
): Promise<void> {
  if (model === undefined || model === null || model === before) return;
  if (!models.isChoosable) {
    const message = `expected null: this server's engine has no other model than "${models.ownName}"`;
    throw bodyFault('model', message);
  }
  const names = await models.names({ isFresh: true });
  // Ollama's tag of a name without one is `latest`.
  if (names === undefined || names.includes(model) || names.includes(`${model}:latest`)) return;
  const known = names.slice(0, SUGGESTIONS_MAX).join(', ');
  const has = known === '' ? 'which has no models' : `which has: ${known}`;
  throw bodyFault('model', `"${model}" is not at the model server, ${has}`);
}

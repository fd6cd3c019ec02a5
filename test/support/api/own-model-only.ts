/** A server whose engine has one language model, for tests that choose none. */
import type { LanguageModels } from '../../../src/domain/agent/agent-rules.ts';

export const OWN_MODEL_ONLY: LanguageModels = {
  ownName: 'scripted',
  isChoosable: false,
  names: async () => [],
};

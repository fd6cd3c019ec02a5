/** State of the wizard of a new trunk: its step, which is in the address, what was typed, and the trunk once it is saved. */
import { useEffect, useState } from 'preact/hooks';
import type { Trunk, TrunkCheck } from '../api-types.ts';
import { route } from '../app-state.ts';
import { type KeptFormState, useKeptForm } from '../parts/use-kept-form.ts';
import { type Agents, useAgents } from '../parts/use-load.ts';
import { NEW_ID } from '../router.ts';
import { giveNumbers, saveTrunk } from './save-trunk.ts';
import { draftOf, NEW_TRUNK, type WizardDraft } from './trunk-draft.ts';
import { presetAt } from './trunk-presets.ts';
import {
  MADE_TRUNK,
  stepOfRefusal,
  type WizardStep,
  wizardAddress,
  wizardStepOf,
} from './wizard-steps.ts';

/** What every step works with. */
export interface Wizard {
  readonly step: WizardStep;
  readonly form: KeptFormState<WizardDraft>;
  readonly agents: Agents;
  /** As it was saved last; undefined before. */
  readonly trunk: Trunk | undefined;
  /** Of the trunk as it was saved last. */
  readonly check: TrunkCheck | undefined;
  readonly onChecked: (check: TrunkCheck) => void;
  readonly go: (step: WizardStep) => void;
}

/** @param made the trunk that the wizard saved before it was reloaded. */
export function useTrunkWizard(made: Trunk | undefined): Wizard {
  const [trunk, setTrunk] = useState(made);
  const [check, onChecked] = useState<TrunkCheck | undefined>(undefined);
  const agents = useAgents();
  const { query } = route.value;
  const step = wizardStepOf(query, trunk !== undefined);
  const go = (next: WizardStep, of = trunk) => location.assign(wizardAddress(next, of?.name));
  const form = useKeptForm<WizardDraft>({
    kept: {
      path: `api/trunks/${NEW_ID}`,
      withoutSecrets: (draft) => ({ ...draft, password: '' }),
    },
    fresh: () => wizardDraftOf(made),
    send: async (draft, begun) => {
      let saved = trunk;
      try {
        saved = await saveTrunk(trunk, draft, begun);
        setTrunk(saved);
        const now = { ...wizardDraftOf(saved), preset: draft.preset };
        // The trunk is there even if one of its numbers cannot be given.
        form.restart(now, { ...now, answerers: draft.answerers });
        await giveNumbers(draft, agents.list).finally(agents.reload);
        go('check', saved);
        return now;
      } catch (error) {
        go(stepOfRefusal(error, saved !== undefined), saved);
        throw error;
      }
    },
  });
  useEffect(() => {
    // Entries of the browser's history from before the trunk was saved do not name it.
    if (trunk === undefined || query.get(MADE_TRUNK) === trunk.name) return;
    location.replace(wizardAddress(step, trunk.name));
  }, [query]);
  return { step, form, agents, trunk, check, onChecked, go };
}

function wizardDraftOf(trunk: Trunk | undefined): WizardDraft {
  if (trunk === undefined) return { ...NEW_TRUNK, preset: '', answerers: {} };
  return { ...draftOf(trunk), preset: presetAt(trunk.proxy), answerers: {} };
}

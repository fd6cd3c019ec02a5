/** The state of an agent's form: what was typed, what it began with, and what became of saving it. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../api-error.ts';
import type { Agent } from '../api-types.ts';
import { client, may, say, t } from '../app-state.ts';
import { WINDOW } from '../kept.ts';
import { useSubmit } from '../parts/form.tsx';
import { useLeaveQuestion } from '../parts/use-leave-question.ts';
import {
  type AgentDraft,
  bodyOf,
  type KeptDraft,
  keepDraft,
  keptDraft,
  withoutEmptyRows,
} from './agent-draft.ts';
import { discardSaved, loadSeen, publish, saveDraft } from './save-agent.ts';
import {
  begunWith,
  type Conflict,
  conflictOf,
  isUnsaved,
  outdatedDraft,
  type SeenAgent,
  settledForm,
} from './saved-draft.ts';

export type AgentFormState = ReturnType<typeof useAgentForm>;

interface FormProps {
  /** What the form begins with, where nothing typed before is kept; undefined where an agent is created. */
  readonly seen: SeenAgent | undefined;
  readonly path: string;
  readonly onSaved: () => void;
}

export function useAgentForm(props: FormProps) {
  const { seen, path } = props;
  const [kept] = useState(() => keptDraft(WINDOW, path));
  const [form, setForm] = useState<KeptDraft>(kept ?? begunWith(seen));
  const [isBroughtBack, setBroughtBack] = useState(kept !== undefined);
  const begunInConflict = kept === undefined && may('editor') ? outdatedDraft(seen) : undefined;
  const [conflict, setConflict] = useState<Conflict | undefined>(begunInConflict);
  useLayoutEffect(() => keepDraft(WINDOW, path, form), [form]);
  const restart = (begun: KeptDraft) => {
    setForm(begun);
    setBroughtBack(false);
    setConflict(undefined);
  };
  const sending = useSending({ ...props, form, setForm, restart, setConflict });
  const isChanged = isUnsaved(form);
  useLeaveQuestion(isChanged);
  return {
    ...{ draft: form.draft, live: form.live, savedAt: form.savedAt },
    ...{ isBroughtBack, conflict, isChanged, ...sending },
    change: (part: Partial<AgentDraft>) =>
      setForm((before) => ({ ...before, draft: { ...before.draft, ...part } })),
    /** Throws away what was typed. */
    discard: () => restart(begunWith(seen)),
    /** Goes on from the newest version, with or without the changes of this form. */
    settle: (whose: 'mine' | 'theirs') => {
      if (conflict !== undefined) restart(settledForm(form, conflict, whose));
    },
  };
}

/** What the buttons of the form do. */
function useSending(
  props: FormProps & {
    readonly form: KeptDraft;
    readonly setForm: (form: KeptDraft) => void;
    readonly restart: (form: KeptDraft) => void;
    readonly setConflict: (conflict: Conflict) => void;
  },
) {
  const { seen, path, form, setForm, restart, setConflict } = props;
  const isForDraft = useRef(false);
  /** Shows what another person has saved, where that is why it failed. */
  const guarded = async (work: () => Promise<KeptDraft>, sent: () => KeptDraft) => {
    try {
      restart(await work());
      props.onSaved();
    } catch (error) {
      if (error instanceof ApiError && error.status === 412)
        setConflict(conflictOf(await loadSeen(path), sent()));
      throw error;
    }
  };
  const { isBusy, error, wrong, submit } = useSubmit(async () => {
    let sent: KeptDraft = { ...form, draft: withoutEmptyRows(form.draft) };
    const keep = (saved: KeptDraft) => {
      sent = saved;
      setForm(saved);
    };
    keep(sent);
    if (seen === undefined) return create(sent.draft, path, restart);
    const isDraft = isForDraft.current;
    const work = () => (isDraft ? saveDraft(path, sent) : publish(path, sent, keep));
    await guarded(work, () => sent);
    say(t(isDraft ? 'agent.draftSaved' : 'agent.published'));
  });
  const submitAs = (isDraft: boolean) => (event?: Event) => {
    isForDraft.current = isDraft;
    submit(event);
  };
  return {
    ...{ isBusy, error, wrong, submit: submitAs(false), saveDraft: submitAs(true) },
    /** Throws away the draft and what was typed. */
    discardDraft: () =>
      guarded(
        () => discardSaved(path, form),
        () => form,
      ),
  };
}

async function create(
  draft: AgentDraft,
  path: string,
  restart: (form: KeptDraft) => void,
): Promise<void> {
  const made = await client.api<Agent>('api/agents', { method: 'POST', body: bodyOf(draft) });
  restart(begunWith(undefined));
  keepDraft(WINDOW, path, begunWith(undefined));
  location.assign(`#/agents/${made.id}`);
  say(t('agent.saved'));
}

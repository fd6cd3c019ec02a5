/** The state of an agent's form, and the requests that load, save, publish and discard it. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ApiError, isMissing } from '../api-error.ts';
import type { Agent, SavedDraft } from '../api-types.ts';
import { client, may, refresh, say, t } from '../app-state.ts';
import { useLeaveQuestion } from '../forms/kept-form.tsx';
import { WINDOW } from '../kept.ts';
import { useSubmit } from '../parts/form.tsx';
import {
  begunWith,
  type Conflict,
  changesToPublish,
  conflictOf,
  isUnsaved,
  outdatedDraft,
  publishedAs,
  type SeenAgent,
  savedAs,
  settledForm,
  tagOf,
} from './agent-changes.ts';
import {
  type AgentDraft,
  bodyOf,
  isNumberFreed,
  type KeptDraft,
  keepDraft,
  keptDraft,
  withoutEmptyRows,
} from './agent-draft.ts';

export type AgentFormState = ReturnType<typeof useAgentForm>;

interface FormProps {
  /** Saved agent that the form begins with, where nothing typed before is kept; undefined where an agent is created. */
  readonly seen: SeenAgent | undefined;
  readonly path: string;
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
    /** Discards the unsaved changes. */
    discard: () => restart(begunWith(seen)),
    /** Continues from the newest version, with or without the changes of this form. */
    settle: (whose: 'mine' | 'theirs') => {
      if (conflict !== undefined) restart(settledForm(form, conflict, whose));
    },
  };
}

/** Actions of the form's buttons. */
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
  /** Runs a change; if another person has saved meanwhile, shows the conflict. */
  const guarded = async (work: () => Promise<KeptDraft>, sent: () => KeptDraft) => {
    try {
      restart(await work());
      refresh();
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
    /** Discards the draft and the unsaved changes. */
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

/** @throws {ApiError} 404 when there is no such agent. */
export async function loadSeen(path: string, signal?: AbortSignal): Promise<SeenAgent> {
  const ask = signal === undefined ? {} : { signal };
  const agent = await client.api<Agent>(path, ask);
  if (agent.draftAt === null) return { agent, draft: undefined };
  try {
    return { agent, draft: await client.api<SavedDraft>(`${path}/draft`, ask) };
  } catch (error) {
    // The draft was discarded or published between the two requests; saving will report the conflict.
    if (isMissing(error)) return { agent, draft: undefined };
    throw error;
  }
}

/** Keeps the form's changes as the draft; a form like the live agent needs none. @throws {ApiError} 412 where another person saved. */
async function saveDraft(path: string, form: KeptDraft): Promise<KeptDraft> {
  const body = changesToPublish(form);
  const ifUpdatedAt = tagOf(form);
  if (Object.keys(body).length > 0) {
    const ask = { method: 'PUT', body, ifUpdatedAt } as const;
    return savedAs(form, (await client.api<SavedDraft>(`${path}/draft`, ask)).updatedAt);
  }
  if (form.savedAt !== undefined)
    await client.api(`${path}/draft`, { method: 'DELETE', ifUpdatedAt });
  return savedAs(form, undefined);
}

/** Deletes the draft. @returns the form of the live agent. @throws {ApiError} 412 where another person saved. */
async function discardSaved(path: string, form: KeptDraft): Promise<KeptDraft> {
  await client.api(`${path}/draft`, { method: 'DELETE', ifUpdatedAt: tagOf(form) });
  return publishedAs({ ...form, draft: form.live }, form.updatedAt);
}

/**
 * Makes the form live, with its unsaved changes.
 *
 * @param onSaved called with the form once its changes are the draft: publishing may fail after that.
 * @throws {ApiError} 412 where another person saved.
 */
async function publish(
  path: string,
  form: KeptDraft,
  onSaved: (form: KeptDraft) => void,
): Promise<KeptDraft> {
  const version = await (form.savedAt === undefined
    ? publishAtOnce(path, form)
    : publishDraft(path, form, onSaved));
  if (!isNumberFreed(form.draft, form.live)) return publishedAs(form, version);
  await client.api(`${path}/phone-number`, { method: 'DELETE', ifUpdatedAt: version });
  return publishedAs(form, (await client.api<Agent>(path)).updatedAt);
}

/** @returns the agent's version. */
async function publishAtOnce(path: string, form: KeptDraft): Promise<string> {
  const { updatedAt } = form;
  const body = changesToPublish(form);
  if (Object.keys(body).length === 0) return updatedAt;
  const ask = { method: 'PATCH', body, ifUpdatedAt: updatedAt } as const;
  return (await client.api<Agent>(path, ask)).updatedAt;
}

/** @returns the agent's version. */
async function publishDraft(
  path: string,
  form: KeptDraft,
  onSaved: (form: KeptDraft) => void,
): Promise<string> {
  const saved = isUnsaved(form) ? await saveDraft(path, form) : form;
  onSaved(saved);
  if (saved.savedAt === undefined) return saved.updatedAt;
  const ask = { method: 'POST', ifUpdatedAt: tagOf(saved) } as const;
  return (await client.api<Agent>(`${path}/draft/publish`, ask)).updatedAt;
}

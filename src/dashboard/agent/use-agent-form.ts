/** The state of an agent's form: what was typed, what it began with, and what became of saving it. */
import { useLayoutEffect, useState } from 'preact/hooks';
import { ApiError } from '../api-error.ts';
import type { Agent } from '../api-types.ts';
import { client, say, t } from '../app-state.ts';
import { mergedFields } from '../changed-fields.ts';
import { WINDOW } from '../kept.ts';
import { useSubmit } from '../parts/form.tsx';
import { useLeaveQuestion } from '../parts/use-leave-question.ts';
import {
  type AgentDraft,
  bodyOf,
  changesOf,
  draftOf,
  isNumberFreed,
  type KeptDraft,
  keepDraft,
  keptDraft,
  NEW_AGENT,
  withoutEmptyRows,
} from './agent-draft.ts';

/** An agent that is created has no version yet. */
const NO_VERSION = '';

export type AgentFormState = ReturnType<typeof useAgentForm>;

export function useAgentForm(props: {
  /** The agent that is changed; undefined where one is created. */
  readonly agent: Agent | undefined;
  /** What the form begins with, where nothing typed before is kept. */
  readonly seen: Agent | undefined;
  readonly path: string;
  readonly onSaved: () => void;
}) {
  const { agent, path } = props;
  const fresh = begunWith(props.seen);
  const [kept] = useState(() => keptDraft(WINDOW, path));
  const [form, setForm] = useState<KeptDraft>(kept ?? fresh);
  const [isBroughtBack, setBroughtBack] = useState(kept !== undefined);
  const [conflict, setConflict] = useState<Agent | undefined>(undefined);
  useLayoutEffect(() => keepDraft(WINDOW, path, form), [form]);
  const restart = (begun: KeptDraft) => {
    setForm(begun);
    setBroughtBack(false);
    setConflict(undefined);
  };
  const { isBusy, error, wrong, submit } = useSubmit(async () => {
    const draft = withoutEmptyRows(form.draft);
    setForm({ ...form, draft });
    if (agent === undefined) {
      const made = await client.api<Agent>('api/agents', { method: 'POST', body: bodyOf(draft) });
      restart(begunWith(undefined));
      keepDraft(WINDOW, path, begunWith(undefined));
      location.assign(`#/agents/${made.id}`);
    } else {
      restart({
        draft,
        begun: draft,
        updatedAt: await save(path, { ...form, draft }, setConflict),
      });
      props.onSaved();
    }
    say(t('agent.saved'));
  });
  const isChanged =
    Object.keys(changesOf(form.draft, form.begun)).length > 0 ||
    isNumberFreed(form.draft, form.begun);
  useLeaveQuestion(isChanged);
  return {
    ...{ draft: form.draft, isBroughtBack, conflict, isBusy, error, wrong, submit, isChanged },
    change: (part: Partial<AgentDraft>) =>
      setForm((before) => ({ ...before, draft: { ...before.draft, ...part } })),
    /** Throws away what was typed. */
    discard: () => restart(fresh),
    /** Goes on from the newest version, with or without the changes of this form. */
    settle: (theirs: Agent, whose: 'mine' | 'theirs') => {
      const begun = begunWith(theirs);
      const parts = { begun: form.begun, mine: form.draft, theirs: begun.draft };
      restart(whose === 'theirs' ? begun : { ...begun, draft: mergedFields(parts) });
    },
  };
}

/** Sends what was changed. @returns the agent's new version. @throws {ApiError} */
async function save(
  path: string,
  { draft, begun, updatedAt }: KeptDraft,
  onConflict: (theirs: Agent) => void,
): Promise<string> {
  try {
    const body = changesOf(draft, begun);
    let version = updatedAt;
    if (Object.keys(body).length > 0) {
      const ask = { method: 'PATCH', body, ifUpdatedAt: version } as const;
      version = (await client.api<Agent>(path, ask)).updatedAt;
    }
    if (!isNumberFreed(draft, begun)) return version;
    await client.api(`${path}/phone-number`, { method: 'DELETE', ifUpdatedAt: version });
    return (await client.api<Agent>(path)).updatedAt;
  } catch (error) {
    if (error instanceof ApiError && error.status === 412)
      onConflict(await client.api<Agent>(path));
    throw error;
  }
}

function begunWith(agent: Agent | undefined): KeptDraft {
  const draft = agent === undefined ? NEW_AGENT : draftOf(agent);
  return { draft, begun: draft, updatedAt: agent?.updatedAt ?? NO_VERSION };
}

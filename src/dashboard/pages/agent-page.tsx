/** One agent: made, changed, paused, deleted. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type AgentDraft, agentWith, type Pronunciation } from '../agent-draft.ts';
import { isMissing, messageUnder } from '../api-error.ts';
import type { Agent } from '../api-types.ts';
import { client, may, t } from '../app-state.ts';
import { ChatButton } from '../parts/chat-dialog.tsx';
import { ConfirmButton } from '../parts/dialog.tsx';
import { CheckField, SelectField, TextField, type TextFieldProps } from '../parts/field.tsx';
import { Button, Missing, Page, Problem, Shown } from '../parts/page.tsx';
import { ENGINE_JOBS, StandIns } from '../parts/stand-ins.tsx';
import { TalkButton } from '../parts/talk-button.tsx';
import { CalendarField, ToolsField } from '../parts/tools-field.tsx';
import { useAgentForm } from '../parts/use-agent-form.ts';
import { useLoad } from '../parts/use-load.ts';
import { Differences, Versions } from '../parts/versions.tsx';
import { VoicePicker } from '../parts/voice-picker.tsx';
import { Knowledge } from './agent-knowledge.tsx';

export function AgentPage({ id }: { readonly id: string }) {
  const isNew = id === 'new';
  const path = `api/agents/${encodeURIComponent(id)}`;
  const loaded = useLoad(
    ['agent', id],
    async (signal) => (isNew ? null : await client.api<Agent>(path, { signal })),
    { isKept: false },
  );
  const [round, setRound] = useState(0);
  /** The restored version: the form starts from it. */
  const [restored, setRestored] = useState<Agent | undefined>(undefined);
  const reload = () => {
    setRound((before) => before + 1);
    loaded.reload();
  };
  return (
    <Page
      title={isNew ? t('agents.new') : (loaded.value?.name ?? t('field.agent'))}
      actions={<Actions agent={isMissing(loaded.error) ? null : loaded.value} path={path} />}
    >
      <Shown loaded={loaded} missing={<Missing what="agent" path={path} />}>
        {(agent) => (
          <>
            <StandIns jobs={ENGINE_JOBS} />
            <AgentForm
              key={restored?.updatedAt ?? ''}
              agent={agent ?? undefined}
              restored={restored}
              path={path}
              onSaved={reload}
            />
            {agent !== null && <Knowledge agentId={agent.id} />}
            {agent !== null && (
              <Versions
                agent={agent}
                round={round}
                onRestored={(now) => {
                  setRestored(now);
                  loaded.reload();
                }}
              />
            )}
          </>
        )}
      </Shown>
    </Page>
  );
}

/** @param props.agent nothing where none is shown. */
function Actions(props: { readonly agent: Agent | null | undefined; readonly path: string }) {
  const { agent, path } = props;
  const remove = async () => {
    await client.api(path, { method: 'DELETE' });
    location.assign('#/agents');
  };
  return (
    <>
      <a class="button" href="#/agents">
        {t('agent.back')}
      </a>
      {agent && (
        <>
          <TalkButton agent={agent} />
          <ChatButton agent={agent} />
          <ConfirmButton
            needs="editor"
            label={t('agent.delete')}
            question={t('agent.deleteQuestion')}
            done={t('agent.deleted')}
            onConfirm={remove}
          />
        </>
      )}
    </>
  );
}

function AgentForm(props: {
  readonly agent: Agent | undefined;
  /** What the form begins with, where it is newer than `agent`. */
  readonly restored: Agent | undefined;
  readonly path: string;
  readonly onSaved: () => void;
}) {
  const { agent } = props;
  const form = useAgentForm({ ...props, seen: props.restored ?? agent });
  const { conflict, error, isBusy } = form;
  return (
    <form class="card form" onSubmit={form.submit} noValidate>
      {form.isBroughtBack && (
        <div class="notice row" role="status">
          <p>{t('agent.broughtBack')}</p>
          <Button text={t('agent.discard')} onClick={form.discard} />
        </div>
      )}
      <Words {...form} />
      <Settings {...form} />
      <Pronunciations
        values={form.draft.pronunciations}
        wrong={form.wrong}
        onValues={(pronunciations) => form.change({ pronunciations })}
      />
      {conflict !== undefined && (
        <ChangeConflict
          theirs={conflict}
          mine={form.draft}
          onKeepMine={() => form.settle(conflict, 'mine')}
          onTakeTheirs={() => form.settle(conflict, 'theirs')}
        />
      )}
      {conflict === undefined && <Problem error={error} />}
      <div class="actions">
        {may('editor') && (
          <button type="submit" class="main" disabled={isBusy}>
            {t(agent === undefined ? 'agent.create' : 'app.save')}
          </button>
        )}
        {form.isChanged && <span class="muted">{t('agent.unsaved')}</span>}
      </div>
    </form>
  );
}

interface FormParts {
  readonly draft: AgentDraft;
  readonly change: (part: Partial<AgentDraft>) => void;
  readonly wrong: Readonly<Record<string, string>>;
}

type TextName =
  | 'name'
  | 'greeting'
  | 'systemPrompt'
  | 'language'
  | 'phoneNumber'
  | 'maxDurationSeconds'
  | 'silenceTimeoutSeconds'
  | 'transferTargets'
  | 'voicemailMessage'
  | 'successCriteria'
  | 'extract';

/** The parts of a text field that follow from its name. */
function fieldOf(
  name: TextName,
  { draft, change, wrong }: FormParts,
  path: string = name,
): TextFieldProps {
  return {
    label: t(`agent.${name}`),
    value: draft[name],
    onValue: (value) => change({ [name]: value }),
    error: messageUnder(wrong, path),
  };
}

function Words(form: FormParts) {
  const { draft, change, wrong } = form;
  return (
    <>
      <TextField {...fieldOf('name', form)} isRequired />
      <TextField {...fieldOf('greeting', form)} rows={2} isRequired />
      <TextField {...fieldOf('systemPrompt', form)} rows={8} isRequired />
      <div class="pair">
        <VoicePicker
          value={draft.voice}
          error={messageUnder(wrong, 'voice')}
          onVoice={({ id, locale }) =>
            // A voice whose language is undetermined speaks the agent's.
            change({ voice: id, ...(locale !== 'und' && { language: locale }) })
          }
        />
        <TextField {...fieldOf('language', form)} hint={t('agent.languageHint')} />
      </div>
      <TextField {...fieldOf('phoneNumber', form)} type="tel" hint={t('agent.phoneHint')} />
    </>
  );
}

function Settings(form: FormParts) {
  const { draft, change, wrong } = form;
  return (
    <>
      <ToolsField
        label={t('agent.tools')}
        error={messageUnder(wrong, 'tools')}
        value={draft.tools}
        onValue={(tools) => change({ tools })}
      />
      <CalendarField
        label={t('agent.calendar')}
        error={messageUnder(wrong, 'calendar')}
        value={draft.calendar}
        onValue={(calendar) => change({ calendar })}
      />
      <TextField
        {...fieldOf('transferTargets', form, 'settings.transferTargets')}
        rows={2}
        hint={t('agent.targetsHint')}
      />
      <CheckField
        label={t('agent.transferAcceptance')}
        isChecked={draft.transferAcceptance}
        onChecked={(transferAcceptance) => change({ transferAcceptance })}
      />
      <CheckField
        label={t('agent.afterTransfer')}
        isChecked={draft.doesReturn}
        onChecked={(doesReturn) => change({ doesReturn })}
      />
      <div class="pair">
        <TextField
          {...fieldOf('maxDurationSeconds', form, 'settings.maxDurationSeconds')}
          type="number"
        />
        <TextField
          {...fieldOf('silenceTimeoutSeconds', form, 'settings.silenceTimeoutSeconds')}
          type="number"
        />
      </div>
      <CheckField
        label={t('agent.interruptible')}
        isChecked={draft.isInterruptible}
        onChecked={(isInterruptible) => change({ isInterruptible })}
      />
      <SelectField
        label={t('agent.responsiveness')}
        value={draft.responsiveness}
        onValue={(responsiveness) => change({ responsiveness })}
        options={(['fast', 'balanced', 'patient'] as const).map((each) => [
          each,
          t(`responsiveness.${each}`),
        ])}
      />
      <VoicemailFields {...form} />
      <TextField
        {...fieldOf('successCriteria', form)}
        rows={2}
        hint={t('agent.successCriteriaHint')}
      />
      <TextField {...fieldOf('extract', form)} rows={4} hint={t('agent.extractHint')} />
    </>
  );
}

/** What happens when an answering machine takes an outgoing call. */
function VoicemailFields(form: FormParts) {
  const { draft, change } = form;
  return (
    <>
      <SelectField
        label={t('agent.voicemailAction')}
        value={draft.voicemailAction}
        onValue={(voicemailAction) => change({ voicemailAction })}
        options={(['continue', 'hang_up', 'leave_message'] as const).map((each) => [
          each,
          t(`voicemail.${each}`),
        ])}
      />
      {draft.voicemailAction === 'leave_message' && (
        <TextField {...fieldOf('voicemailMessage', form, 'settings.voicemail.message')} rows={2} />
      )}
    </>
  );
}

/** Shown when somebody else saved the agent meanwhile: both versions, and what to do. */
function ChangeConflict(props: {
  /** The agent as the server has it. */
  readonly theirs: Agent;
  /** The form as it is. */
  readonly mine: AgentDraft;
  readonly onKeepMine: () => void;
  readonly onTakeTheirs: () => void;
}) {
  const { theirs, mine } = props;
  return (
    <div class="box bad" role="alert">
      <p>{t('conflict.text')}</p>
      <p class="muted small">{t('conflict.legend')}</p>
      <Differences before={theirs} after={agentWith(theirs, mine)} />
      <div class="actions">
        <Button class="main" text={t('conflict.keepMine')} onClick={props.onKeepMine} />
        <Button text={t('conflict.takeTheirs')} onClick={props.onTakeTheirs} />
      </div>
    </div>
  );
}

/** As many as the server takes. */
const ROWS_MAX = 100;

const PATH = 'settings.pronunciations';

/** How words are to be said, a row each. */
function Pronunciations(props: {
  readonly values: readonly Pronunciation[];
  readonly wrong: Readonly<Record<string, string>>;
  readonly onValues: (values: readonly Pronunciation[]) => void;
}) {
  const { values, wrong, onValues } = props;
  const rows = useRef<HTMLFieldSetElement>(null);
  const add = useRef<HTMLButtonElement>(null);
  const count = useRef(values.length);
  useEffect(() => {
    // A new row is there to be written in; where one went, the focus must not be lost with it.
    if (values.length > count.current) {
      [...(rows.current?.querySelectorAll<HTMLElement>('.pronunciation') ?? [])]
        .at(-1)
        ?.querySelector('input')
        ?.focus();
    } else if (values.length < count.current && document.activeElement === document.body) {
      add.current?.focus();
    }
    count.current = values.length;
  }, [values.length]);
  const change = (at: number, part: Partial<Pronunciation>) =>
    onValues(values.map((value, index) => (index === at ? { ...value, ...part } : value)));
  return (
    <fieldset class="pronunciations" ref={rows}>
      <legend>{t('agent.pronunciations')}</legend>
      <p class="hint">{t('agent.pronunciationsHint')}</p>
      {wrong[PATH] && <p class="wrong">{wrong[PATH]}</p>}
      {values.map((value, index) => (
        <div class="pronunciation" key={index}>
          <TextField
            label={t('agent.written')}
            value={value.written}
            error={wrong[`${PATH}.${index}.written`]}
            onValue={(written) => change(index, { written })}
          />
          <TextField
            label={t('agent.spoken')}
            value={value.spoken}
            error={wrong[`${PATH}.${index}.spoken`]}
            onValue={(spoken) => change(index, { spoken })}
          />
          <Button
            text="×"
            aria-label={t('agent.removePronunciation', { written: value.written })}
            onClick={() => onValues(values.filter((_, other) => other !== index))}
          />
        </div>
      ))}
      {values.length < ROWS_MAX && (
        <button
          type="button"
          ref={add}
          onClick={() => onValues([...values, { written: '', spoken: '' }])}
        >
          {t('agent.addPronunciation')}
        </button>
      )}
    </fieldset>
  );
}

/** The foot of an agent's form, in sight while something is not live: saves, publishes, shows changes and conflicts. */
import type { Agent } from '../api-types.ts';
import { formats, may, t } from '../app-state.ts';
import { ChangeConflict } from '../forms/resource-form.tsx';
import { ConfirmButton, DialogButton } from '../parts/dialog.tsx';
import { Button, Problem } from '../parts/page.tsx';
import { type AgentDraft, agentWith, isNumberFreed } from './agent-draft.ts';
import type { AgentFormState } from './use-agent-form.ts';
import { Differences } from './versions.tsx';

/** @param props.agent as it is live; undefined where one is created. */
export function SaveBar(props: {
  readonly agent: Agent | undefined;
  readonly form: AgentFormState;
}) {
  const { agent, form } = props;
  const { conflict, isChanged, savedAt } = form;
  const isInSight = isChanged || savedAt !== undefined;
  return (
    <>
      {conflict !== undefined && (
        <ChangeConflict onSettle={form.settle}>
          <Differences before={conflict.theirs} after={agentWith(conflict.theirs, form.draft)} />
        </ChangeConflict>
      )}
      <div class={isInSight ? 'save-bar save-bar-changed' : 'save-bar'}>
        {conflict === undefined && <Problem error={form.error} />}
        {savedAt !== undefined && <DraftLine savedAt={savedAt} onDiscard={form.discardDraft} />}
        <div class="actions">
          {may('editor') && <SendButtons isNew={agent === undefined} form={form} />}
          {isInSight && agent !== undefined && (
            <DialogButton label={t('agent.showChanges')}>
              {(close) => <Changes agent={agent} draft={form.draft} onClose={close} />}
            </DialogButton>
          )}
          {isChanged && agent !== undefined && (
            <ConfirmButton
              class=""
              label={t('agent.dropChanges')}
              question={t('agent.dropQuestion')}
              onConfirm={async () => form.discard()}
            />
          )}
          {isChanged && <Unsaved isNew={agent === undefined} form={form} />}
        </div>
      </div>
    </>
  );
}

function SendButtons(props: { readonly isNew: boolean; readonly form: AgentFormState }) {
  const { isNew, form } = props;
  return (
    <>
      <button type="submit" class="main" disabled={form.isBusy}>
        {t(isNew ? 'agent.create' : 'agent.publish')}
      </button>
      {!isNew && (
        <Button
          text={t('agent.saveDraft')}
          disabled={form.isBusy || !form.isChanged}
          onClick={() => form.saveDraft()}
        />
      )}
    </>
  );
}

/** Says that the server keeps changes that no caller hears. */
function DraftLine(props: { readonly savedAt: string; readonly onDiscard: () => Promise<void> }) {
  const { savedAt, onDiscard } = props;
  return (
    <div class="actions">
      <span>{t('agent.draftOf', { at: formats.value.dayTime(savedAt) })}</span>
      <ConfirmButton
        needs="editor"
        class=""
        label={t('agent.discardDraft')}
        question={t('agent.discardDraftQuestion')}
        done={t('agent.draftDiscarded')}
        onConfirm={onDiscard}
      />
    </div>
  );
}

function Unsaved(props: { readonly isNew: boolean; readonly form: AgentFormState }) {
  const { isNew, form } = props;
  const isFreed = isNumberFreed(form.draft, form.live);
  return (
    <span class="muted" role="status">
      <strong>{t('agent.unsaved')}</strong>
      {!isNew && ` ${t(isFreed ? 'agent.numberNotInDraft' : 'agent.publishedIsLive')}`}
    </span>
  );
}

/** What publishing would change. */
function Changes(props: {
  readonly agent: Agent;
  readonly draft: AgentDraft;
  readonly onClose: () => void;
}) {
  const { agent, draft, onClose } = props;
  return (
    <>
      <Differences before={agent} after={agentWith(agent, draft)} />
      <div class="actions">
        <Button class="main" text={t('app.close')} onClick={onClose} />
      </div>
    </>
  );
}

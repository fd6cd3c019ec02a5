/** The foot of an agent's form, in sight while something is unsaved: what changed, saving it, and what another person saved meanwhile. */
import { useEffect, useRef } from 'preact/hooks';
import type { Agent } from '../api-types.ts';
import { may, t } from '../app-state.ts';
import { ConfirmButton, DialogButton } from '../parts/dialog.tsx';
import { Button, Problem } from '../parts/page.tsx';
import { type AgentDraft, agentWith } from './agent-draft.ts';
import type { AgentFormState } from './use-agent-form.ts';
import { Differences } from './versions.tsx';

/** @param props.agent undefined where one is created. */
export function SaveBar(props: {
  readonly agent: Agent | undefined;
  readonly form: AgentFormState;
}) {
  const { agent, form } = props;
  const { conflict, isChanged } = form;
  return (
    <>
      {conflict !== undefined && (
        <ChangeConflict
          theirs={conflict}
          mine={form.draft}
          onKeepMine={() => form.settle(conflict, 'mine')}
          onTakeTheirs={() => form.settle(conflict, 'theirs')}
        />
      )}
      <div class={isChanged ? 'save-bar save-bar-changed' : 'save-bar'}>
        {conflict === undefined && <Problem error={form.error} />}
        <div class="actions">
          {may('editor') && (
            <button type="submit" class="main" disabled={form.isBusy}>
              {t(agent === undefined ? 'agent.create' : 'app.save')}
            </button>
          )}
          {isChanged && agent !== undefined && (
            <>
              <DialogButton label={t('agent.showChanges')}>
                {(close) => <Changes agent={agent} draft={form.draft} onClose={close} />}
              </DialogButton>
              <ConfirmButton
                class=""
                label={t('agent.dropChanges')}
                question={t('agent.dropQuestion')}
                onConfirm={async () => form.discard()}
              />
            </>
          )}
          {isChanged && (
            <span class="muted" role="status">
              <strong>{t('agent.unsaved')}</strong>
              {agent !== undefined && ` ${t('agent.savedIsLive')}`}
            </span>
          )}
        </div>
      </div>
    </>
  );
}

/** What saving would change. */
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

/** Shown when another person saved the agent meanwhile: both versions, and what to do. */
function ChangeConflict(props: {
  /** The agent as the server has it. */
  readonly theirs: Agent;
  /** The form as it is. */
  readonly mine: AgentDraft;
  readonly onKeepMine: () => void;
  readonly onTakeTheirs: () => void;
}) {
  const { theirs, mine } = props;
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), [theirs]);
  return (
    <div class="box bad" role="alert" ref={box}>
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

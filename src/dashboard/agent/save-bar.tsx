/** The foot of an agent's form, in sight while something is unsaved: what changed, saving it, and what another person saved meanwhile. */
import type { Agent } from '../api-types.ts';
import { may, t } from '../app-state.ts';
import { ChangeConflict } from '../forms/change-conflict.tsx';
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
        <ChangeConflict onSettle={(whose) => form.settle(conflict, whose)}>
          <Differences before={conflict} after={agentWith(conflict, form.draft)} />
        </ChangeConflict>
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

/** Shown when somebody else saved the agent meanwhile: both versions, and what to do. */
import { type AgentDraft, agentWith } from '../agent-draft.ts';
import type { Agent } from '../api-types.ts';
import { t } from '../app-state.ts';
import { Differences } from './differences.tsx';

export function ChangeConflict(props: {
  /** The agent as the server has it. */
  readonly theirs: Agent;
  /** The form as it is. */
  readonly mine: AgentDraft;
  readonly onKeepMine: () => void;
  readonly onTakeTheirs: () => void;
}) {
  const { theirs, mine } = props;
  return (
    <div class="problem" role="alert">
      <p>{t('conflict.text')}</p>
      <p class="muted small">{t('conflict.legend')}</p>
      <Differences before={theirs} after={agentWith(theirs, mine)} />
      <div class="actions">
        <button type="button" class="main" onClick={props.onKeepMine}>
          {t('conflict.keepMine')}
        </button>
        <button type="button" onClick={props.onTakeTheirs}>
          {t('conflict.takeTheirs')}
        </button>
      </div>
    </div>
  );
}

/** One agent: made, changed, tried, deleted. */
import { AgentPanes } from '../agent/agent-panes.tsx';
import { loadSeen } from '../agent/save-agent.ts';
import type { SeenAgent } from '../agent/saved-draft.ts';
import { isMissing } from '../api-error.ts';
import type { Agent } from '../api-types.ts';
import { client, may, t } from '../app-state.ts';
import { ConfirmButton } from '../parts/dialog.tsx';
import { Missing, Page, Shown } from '../parts/page.tsx';
import { ENGINE_JOBS, StandIns, useReadiness } from '../parts/stand-ins.tsx';
import { useLoad } from '../parts/use-load.ts';

export function AgentPage({ id }: { readonly id: string }) {
  const isNew = id === 'new';
  const path = `api/agents/${encodeURIComponent(id)}`;
  const loaded = useLoad(
    ['agent', id],
    async (signal) => (isNew ? null : await seenBy(path, signal)),
    { isKept: false },
  );
  // The warning of stand-ins comes above the form: with it, and not later, so that nothing moves.
  const readiness = useReadiness();
  const isWarned = readiness.value !== undefined || readiness.error !== undefined;
  const shown = isWarned ? loaded : { ...loaded, value: undefined };
  return (
    <Page
      title={isNew ? t('agents.new') : (loaded.value?.agent.name ?? t('field.agent'))}
      actions={<Actions agent={isMissing(loaded.error) ? null : loaded.value?.agent} path={path} />}
    >
      <Shown loaded={shown} missing={<Missing what="agent" path={path} />}>
        {(seen) => (
          <>
            <StandIns jobs={ENGINE_JOBS} />
            <AgentPanes seen={seen ?? undefined} path={path} onChanged={loaded.reload} />
          </>
        )}
      </Shown>
    </Page>
  );
}

/** Drafts are for people who can change the agent; others see it as callers hear it. */
async function seenBy(path: string, signal: AbortSignal): Promise<SeenAgent> {
  if (may('editor')) return await loadSeen(path, signal);
  return { agent: await client.api<Agent>(path, { signal }), draft: undefined };
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
        <ConfirmButton
          needs="editor"
          label={t('agent.delete')}
          question={t('agent.deleteQuestion')}
          done={t('agent.deleted')}
          onConfirm={remove}
        />
      )}
    </>
  );
}

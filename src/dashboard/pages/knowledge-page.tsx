/** The documents that agents answer from, an agent at a time. */
import { Knowledge } from '../agent/knowledge.tsx';
import { t } from '../app-state.ts';
import { SelectField } from '../parts/field.tsx';
import { Empty, LinkButton, Loading, Page } from '../parts/page.tsx';
import { useAgents } from '../parts/use-load.ts';

/** @param props.id of the agent; the newest one's unless given. */
export function KnowledgePage({ id }: { readonly id: string }) {
  const agents = useAgents();
  const agentId = id || agents.list[0]?.id;
  return (
    <Page title={t('nav.knowledge')}>
      {!agents.isSettled && <Loading />}
      {agents.isSettled && agentId === undefined && (
        <Empty text={t('knowledge.noAgents')}>
          <LinkButton needs="editor" isMain href="#/agents/new" text={t('agents.first')} />
        </Empty>
      )}
      {agents.isSettled && agentId !== undefined && (
        <>
          <div class="filters">
            <SelectField
              label={t('field.agent')}
              value={agentId}
              options={agents.options}
              onValue={(chosen) => location.replace(`#/knowledge/${chosen}`)}
            />
          </div>
          <Knowledge agentId={agentId} />
        </>
      )}
    </Page>
  );
}

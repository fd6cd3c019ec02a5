/** Campaigns: lists of numbers that agents call, and how far each has come. */
import { Megaphone } from 'lucide';
import type { Campaign } from '../api-types.ts';
import { formats, t } from '../app-state.ts';
import { PlaceCallButton } from '../parts/call-buttons.tsx';
import { Ago, Empty, LinkButton, Page, ShownPage, State, Table } from '../parts/page.tsx';
import { useAgents, usePages } from '../parts/use-load.ts';

const REFRESH_MS = 5000;

export function CampaignsPage() {
  const loaded = usePages<Campaign>('api/campaigns', 20, {}, { refreshMs: REFRESH_MS });
  const agents = useAgents();
  const { count } = formats.value;
  return (
    <Page
      title={t('nav.campaigns')}
      actions={
        <>
          <PlaceCallButton />
          <LinkButton needs="editor" isMain href="#/campaigns/new" text={t('campaigns.new')} />
        </>
      }
    >
      <ShownPage loaded={loaded}>
        {(campaigns) => (
          <Table
            label={t('nav.campaigns')}
            empty={
              <Empty icon={Megaphone} text={t('campaigns.none')}>
                <LinkButton
                  needs="editor"
                  isMain
                  href="#/campaigns/new"
                  text={t('campaigns.first')}
                />
              </Empty>
            }
            rows={campaigns}
            keyOf={({ id }) => id}
            hrefOf={({ id }) => `#/campaigns/${id}`}
            columns={{
              name: ({ name }) => name,
              status: ({ status }) => <State of={status} />,
              agent: ['cut', ({ agentId }) => agents.nameOf(agentId)],
              called: [
                'number',
                ({ counts: { total, pending } }) => `${count(total - pending)} / ${count(total)}`,
              ],
              reached: ['number', ({ counts }) => count(counts.completed)],
              created: ({ createdAt }) => <Ago at={createdAt} />,
            }}
          />
        )}
      </ShownPage>
    </Page>
  );
}

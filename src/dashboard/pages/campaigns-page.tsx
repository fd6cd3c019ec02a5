/** Campaigns, which are lists of numbers that agents call: the list with how far each has come, and the page of one. */
import { Megaphone } from 'lucide';
import type { Campaign, CampaignContact } from '../api-types.ts';
import { client, complain, formats, refresh, sentence, t, word } from '../app-state.ts';
import { PlaceCallButton } from '../parts/call-buttons.tsx';
import { ConfirmButton } from '../parts/dialog.tsx';
import { ChoiceFilter, wordOptions } from '../parts/field.tsx';
import {
  Ago,
  Button,
  Empty,
  FactList,
  Instant,
  LinkButton,
  Missing,
  Page,
  PagedTable,
  Section,
  Shown,
  State,
} from '../parts/page.tsx';
import { useAgents, useApi, useFilters, usePages } from '../parts/use-load.ts';
import { NewCampaignPage } from './new-campaign-page.tsx';

const LIST_REFRESH_MS = 5000;

export function CampaignsPage() {
  const loaded = usePages<Campaign>('api/campaigns', 20, {}, { refreshMs: LIST_REFRESH_MS });
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
      <PagedTable
        label={t('nav.campaigns')}
        empty={
          <Empty icon={Megaphone} text={t('campaigns.none')}>
            <LinkButton needs="editor" isMain href="#/campaigns/new" text={t('campaigns.first')} />
          </Empty>
        }
        loaded={loaded}
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
    </Page>
  );
}

/** Interval at which a running campaign is loaded again. */
const REFRESH_MS = 2000;

const CONTACTS_SHOWN = 50;

const STATES = ['pending', 'calling', 'completed', 'failed', 'refused', 'cancelled'] as const;

export function CampaignPage({ id }: { readonly id: string }) {
  return id === 'new' ? <NewCampaignPage /> : <KnownCampaign id={id} />;
}

function KnownCampaign({ id }: { readonly id: string }) {
  const path = `api/campaigns/${encodeURIComponent(id)}`;
  const loaded = useApi<Campaign>(path, {}, { refreshMs: REFRESH_MS });
  const { value: campaign } = loaded;
  return (
    <Page
      title={campaign?.name ?? t('campaigns.title')}
      actions={campaign && <Actions campaign={campaign} path={path} />}
    >
      <Shown loaded={loaded} missing={<Missing what="campaign" path={path} />}>
        {(shown) => (
          <>
            <Facts campaign={shown} />
            <Contacts campaign={shown} path={path} />
          </>
        )}
      </Shown>
    </Page>
  );
}

function Actions({ campaign, path }: { readonly campaign: Campaign; readonly path: string }) {
  const { name, status } = campaign;
  const move = (verb: 'pause' | 'resume') => () =>
    client.api(`${path}/${verb}`, { method: 'POST' }).then(refresh, complain);
  const isOver = status === 'completed' || status === 'cancelled';
  return (
    <>
      {status === 'running' && (
        <Button needs="editor" text={t('agents.pause')} onClick={move('pause')} />
      )}
      {status === 'paused' && (
        <Button needs="editor" class="main" text={t('campaigns.resume')} onClick={move('resume')} />
      )}
      {!isOver && (
        <ConfirmButton
          needs="editor"
          label={t('campaigns.cancel')}
          question={t('campaigns.cancelQuestion', { name })}
          onConfirm={() => client.api(`${path}/cancel`, { method: 'POST' }).then(refresh)}
        />
      )}
      {status !== 'running' && (
        <ConfirmButton
          needs="editor"
          label={t('knowledge.delete')}
          question={t('campaigns.deleteQuestion', { name })}
          done={t('campaigns.deleted')}
          onConfirm={async () => {
            await client.api(path, { method: 'DELETE' });
            location.assign('#/campaigns');
          }}
        />
      )}
    </>
  );
}

function Facts({ campaign }: { readonly campaign: Campaign }) {
  const agents = useAgents();
  const { count } = formats.value;
  const { counts, statusReason, retries } = campaign;
  const ends = Object.entries(counts.byEndReason);
  return (
    <>
      {statusReason !== null && (
        <p class="notice" role="status">
          {sentence(statusReason)}
        </p>
      )}
      <FactList
        class="figures"
        facts={[
          [t('field.status'), <State of={campaign.status} />],
          ...STATES.map((state) => [word('state', state), count(counts[state])] as const),
        ]}
      />
      <Section title={t('field.details')}>
        <FactList
          class="facts"
          facts={[
            [t('field.agent'), agents.nameOf(campaign.agentId)],
            [t('field.from'), campaign.from ?? t('campaigns.agentNumber')],
            [t('campaigns.pace'), count(campaign.callsPerMinute)],
            [t('campaigns.atOnce'), count(campaign.maxConcurrentCalls)],
            [t('campaigns.notBefore'), <Instant at={campaign.notBefore} />],
            [t('campaigns.notAfter'), <Instant at={campaign.notAfter} />],
            [t('campaigns.retries'), count(retries.max)],
            [
              t('field.end'),
              ends.map(([reason, n]) => `${word('end', reason)}: ${count(n)}`).join(', ') || '–',
            ],
          ]}
        />
      </Section>
    </>
  );
}

function Contacts({ campaign, path }: { readonly campaign: Campaign; readonly path: string }) {
  const { count } = formats.value;
  const { field, query } = useFilters({ state: '' });
  const loaded = usePages<CampaignContact>(`${path}/contacts`, CONTACTS_SHOWN, query, {
    round: campaign.updatedAt,
    ...(campaign.status === 'running' && { refreshMs: REFRESH_MS }),
  });
  return (
    <Section title={t('campaigns.contacts')}>
      <div class="filters">
        <ChoiceFilter {...field('state', 'field.status')} options={wordOptions('state', STATES)} />
      </div>
      <PagedTable
        label={t('campaigns.contacts')}
        empty={t('campaigns.noContacts')}
        loaded={loaded}
        keyOf={({ row }) => row}
        columns={{
          row: ['number', ({ row }) => count(row)],
          number: [
            'number',
            ({ to, callId }) => (callId === null ? to : <a href={`#/calls/${callId}`}>{to}</a>),
          ],
          status: ({ state }) => <State of={state} />,
          attempts: ['number', ({ attempts }) => count(attempts)],
          end: ({ endReason }) => endReason && word('end', endReason),
          details: ({ reason }) => reason && sentence(reason),
          nextAttempt: ({ nextCallAt }) => <Instant at={nextCallAt} />,
        }}
      />
    </Section>
  );
}

/** Logs: the newest requests to the REST interface, and the server's warnings and errors, as they come. */
import { useState } from 'preact/hooks';
import type {
  RequestEntry,
  RequestLogPage,
  ServerLogEntry,
  ServerLogPage,
} from '../../api-types.ts';
import { environment, formats, may, route, session, t, word } from '../../app-state.ts';
import { CheckField, ChoiceFilter, TextField, wordOptions } from '../../parts/field.tsx';
import { Instant, Page, PagedTable, Section, State } from '../../parts/page.tsx';
import { useFilters, usePages } from '../../parts/use-load.ts';

const PER_PAGE = 50;

/** Interval at which the newest page is loaded again. */
const REFRESH_MS = 3000;

export function LogsPage() {
  const [isFollowing, setFollowing] = useState(true);
  const requestId = route.value.query.get('requestId') ?? '';
  return (
    <Page
      title={t('nav.logs')}
      actions={
        <CheckField label={t('logs.follow')} isChecked={isFollowing} onChecked={setFollowing} />
      }
    >
      {/* A link to another request begins with its filter alone. */}
      <Requests key={`requests ${requestId}`} requestId={requestId} isFollowing={isFollowing} />
      {may('admin') && (
        <Warnings key={`server ${requestId}`} requestId={requestId} isFollowing={isFollowing} />
      )}
    </Page>
  );
}

interface LogProps {
  readonly requestId: string;
  readonly isFollowing: boolean;
}

const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx'];

function Requests({ requestId, isFollowing }: LogProps) {
  const { field, query } = useFilters({ status: '', route: '', requestId });
  const loaded = usePages<RequestEntry, RequestLogPage>('api/logs/requests', PER_PAGE, query, {
    firstRefreshMs: isFollowing && REFRESH_MS,
  });
  return (
    <Section title={t('logs.requests')}>
      <p class="muted">{t('logs.requestsText', keptOf(loaded.value))}</p>
      <search class="filters">
        <ChoiceFilter
          {...field('status', 'field.status')}
          options={wordOptions('statusClass', STATUS_CLASSES)}
        />
        <TextField type="search" {...field('route', 'logs.route')} />
        <TextField type="search" {...field('requestId', 'field.requestId')} />
      </search>
      <PagedTable
        label={t('logs.requests')}
        empty={t('logs.noRequests')}
        loaded={loaded}
        keyOf={(entry) => entry.requestId}
        columns={{
          instant: ({ at }) => <Instant at={at} />,
          answer: ['number', ({ status }) => status],
          action: ['small', ({ method, route }) => <code>{`${method} ${route}`}</code>],
          error: ['small', ({ errorCode }) => errorCode ?? '–'],
          took: ['number', ({ durationMs }) => formats.value.ms(durationMs)],
          who: ({ actor, actorName }) => actorName ?? word('actor', actor),
          account: ['small', accountText],
          requestId: ['small', (entry) => <code>{entry.requestId}</code>],
        }}
      />
    </Section>
  );
}

/** Account and environment of a request; a dash where it is of none. */
function accountText({ accountId, environment: at }: RequestEntry): string {
  if (accountId === null) return '–';
  const name = session.value?.accounts.find(({ id }) => id === accountId)?.name ?? accountId;
  return `${name}, ${t(`environment.${at === 'test' ? 'test' : 'live'}`)}`;
}

const LEVELS = ['error', 'warn'];

function Warnings({ requestId, isFollowing }: LogProps) {
  const { field, query } = useFilters({ level: '', text: '', requestId });
  const loaded = usePages<ServerLogEntry, ServerLogPage>('api/logs/server', PER_PAGE, query, {
    isOfInstallation: true,
    firstRefreshMs: isFollowing && REFRESH_MS,
  });
  return (
    <Section title={t('logs.server')}>
      <p class="muted">{t('logs.serverText', keptOf(loaded.value))}</p>
      <search class="filters">
        <ChoiceFilter {...field('level', 'field.level')} options={wordOptions('state', LEVELS)} />
        <TextField type="search" {...field('text', 'field.message')} />
        <TextField type="search" {...field('requestId', 'field.requestId')} />
      </search>
      <PagedTable
        label={t('logs.server')}
        empty={t('logs.noWarnings')}
        loaded={loaded}
        columns={{
          instant: ({ at }) => <Instant at={at} />,
          level: ({ level }) => <State of={level} />,
          component: ({ component }) => component,
          // Free text of the log, which has no German.
          message: ({ message }) => <span lang="en">{message}</span>,
          error: ['small', ({ code }) => code ?? '–'],
          requestId: ['small', (entry) => <RequestLink to={entry.requestId} />],
        }}
      />
    </Section>
  );
}

function RequestLink({ to }: { readonly to: string | null }) {
  if (to === null) return <>–</>;
  return <a href={`#/logs?environment=${environment.value}&requestId=${to}`}>{to}</a>;
}

/** How far a log reaches back; dashes until it is loaded. */
function keptOf(page: { readonly since: string; readonly keptMax: number } | undefined) {
  if (page === undefined) return { max: '–', since: '–' };
  return { max: formats.value.count(page.keptMax), since: formats.value.instant(page.since) };
}

/** The audit log: who changed what, newest first, with filters by user and resource. */
import type { AuditEntry, UserList } from '../../api-types.ts';
import { client, route, t, word } from '../../app-state.ts';
import { ChoiceFilter, TextField } from '../../parts/field.tsx';
import { Instant, Page, PagedTable, Section } from '../../parts/page.tsx';
import { useFilters, useLoad, usePages } from '../../parts/use-load.ts';

const PER_PAGE = 50;

export function AuditLogPage() {
  const { field, query } = useFilters({
    actorId: '',
    resource: route.value.query.get('resource') ?? '',
  });
  const options = { isOfInstallation: true };
  const loaded = usePages<AuditEntry>('api/audit-log', PER_PAGE, query, options);
  const people = useLoad(['users'], () => client.read<UserList>('dashboard/users'));
  return (
    <Page title={t('nav.auditLog')}>
      <Section title={t('audit.entries')}>
        <p class="muted">{t('audit.text')}</p>
        <search class="filters">
          <ChoiceFilter
            {...field('actorId', 'field.who')}
            options={(people.value?.users ?? []).map(({ id, name }) => [id, name])}
          />
          <TextField type="search" {...field('resource', 'field.resource')} />
        </search>
        <PagedTable
          label={t('audit.entries')}
          empty={t('audit.none')}
          loaded={loaded}
          columns={{
            instant: ({ at }) => <Instant at={at} />,
            who: ({ actor, actorName }) => actorName ?? word('actor', actor),
            action: ['small', ({ action }) => <code>{action}</code>],
            resource: ['small', ({ resource: of }) => (of === null ? '–' : <code>{of}</code>)],
            answer: ['number', ({ status }) => status ?? '–'],
            address: ({ address }) => address ?? '–',
          }}
        />
      </Section>
    </Page>
  );
}

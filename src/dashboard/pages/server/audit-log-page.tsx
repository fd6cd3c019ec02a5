/** The audit log: who changed what, newest first, by user and by what was changed. */
import { useState } from 'preact/hooks';
import type { AuditEntry, Paged, User } from '../../api-types.ts';
import { client, route, t, word } from '../../app-state.ts';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Instant, Page, Section, ShownPage, Table } from '../../parts/page.tsx';
import { useLoad } from '../../parts/use-load.ts';

const PER_PAGE = 50;

export function AuditLogPage() {
  const [actorId, setActorId] = useState('');
  const [resource, setResource] = useState(route.value.query.get('resource') ?? '');
  const [offset, onOffset] = useState(0);
  const query = { actorId, resource: resource.trim(), limit: PER_PAGE, offset };
  // The log is of the whole installation: only live keys read it.
  const loaded = useLoad(['audit-log', query], (signal) =>
    client.in('live').api<Paged<AuditEntry>>('api/audit-log', { query, signal }),
  );
  const people = useLoad(['users'], () => client.users());
  const from = (change: (value: string) => void) => (value: string) => {
    change(value);
    onOffset(0);
  };
  return (
    <Page title={t('nav.auditLog')}>
      <Section title={t('audit.entries')}>
        <p class="muted">{t('audit.text')}</p>
        <search class="filters">
          <SelectField
            label={t('field.who')}
            value={actorId}
            onValue={from(setActorId)}
            options={[['', t('calls.all')], ...choicesOf(people.value?.users ?? [])]}
          />
          <TextField
            label={t('field.resource')}
            type="search"
            value={resource}
            onValue={from(setResource)}
          />
        </search>
        <ShownPage loaded={{ ...loaded, offset, limit: PER_PAGE, onOffset }}>
          {(entries) => <Entries entries={entries} />}
        </ShownPage>
      </Section>
    </Page>
  );
}

function choicesOf(users: readonly User[]) {
  return users.map(({ id, name }) => [id, name] as const);
}

function Entries({ entries }: { readonly entries: readonly AuditEntry[] }) {
  return (
    <Table
      label={t('audit.entries')}
      empty={t('audit.none')}
      rows={entries}
      keyOf={({ id }) => id}
      columns={{
        instant: ({ at }) => <Instant at={at} />,
        who: ({ actor, actorName }) => actorName ?? word('actor', actor),
        action: ['small', ({ action }) => <code>{action}</code>],
        resource: ['small', ({ resource }) => (resource === null ? '–' : <code>{resource}</code>)],
        answer: ['number', ({ status }) => status ?? '–'],
        address: ({ address }) => address ?? '–',
      }}
    />
  );
}

/** The calendars that agents book appointments in. */
import type { Calendar } from '../api-types.ts';
import { formats, t } from '../app-state.ts';
import { Empty, LinkButton, Page, ShownPage, Table } from '../parts/page.tsx';
import { usePages } from '../parts/use-load.ts';
import { NEW_ID } from '../router.ts';

export function CalendarsPage() {
  const loaded = usePages<Calendar>('api/calendars', 50);
  return (
    <Page
      title={t('nav.calendars')}
      actions={
        <LinkButton needs="editor" isMain href={`#/calendars/${NEW_ID}`} text={t('calendar.new')} />
      }
    >
      <ShownPage loaded={loaded}>
        {(calendars) => <CalendarTable calendars={calendars} />}
      </ShownPage>
    </Page>
  );
}

function CalendarTable({ calendars }: { readonly calendars: readonly Calendar[] }) {
  return (
    <Table
      label={t('nav.calendars')}
      empty={
        <Empty text={t('calendar.none')}>
          <LinkButton needs="editor" href={`#/calendars/${NEW_ID}`} text={t('calendar.create')} />
        </Empty>
      }
      rows={calendars}
      keyOf={({ name }) => name}
      hrefOf={({ name }) => `#/calendars/${name}`}
      columns={{
        name: ({ name }) => name,
        calendarKind: ({ kind }) => t(`calendar.${kind}`),
        timeZone: ({ timeZone }) => timeZone,
        slot: ['number', ({ slotMinutes }) => `${formats.value.count(slotMinutes)} min`],
      }}
    />
  );
}

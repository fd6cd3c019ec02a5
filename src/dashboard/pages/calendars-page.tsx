/** The calendars that agents book appointments in. */
import type { Calendar } from '../api-types.ts';
import { formats, may, t } from '../app-state.ts';
import { Empty, Page, ShownPage, Table } from '../parts/page.tsx';
import { usePages } from '../parts/use-load.ts';
import { NEW_ID } from '../router.ts';

export function CalendarsPage() {
  const loaded = usePages<Calendar>('api/calendars', 50);
  return (
    <Page
      title={t('nav.calendars')}
      actions={
        may('editor') && (
          <a class="button main" href={`#/calendars/${NEW_ID}`}>
            {t('calendar.new')}
          </a>
        )
      }
    >
      <ShownPage loaded={loaded}>
        {(calendars) =>
          calendars.length === 0 ? (
            <Empty text={t('calendar.none')}>
              {may('editor') && (
                <a class="button" href={`#/calendars/${NEW_ID}`}>
                  {t('calendar.create')}
                </a>
              )}
            </Empty>
          ) : (
            <CalendarTable calendars={calendars} />
          )
        }
      </ShownPage>
    </Page>
  );
}

function CalendarTable({ calendars }: { readonly calendars: readonly Calendar[] }) {
  return (
    <Table
      label={t('nav.calendars')}
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

/** One calendar: made, changed, its appointments and its feed. */
import type { Calendar } from '../api-types.ts';
import { client, t } from '../app-state.ts';
import { Appointments } from '../calendars/appointments.tsx';
import { CalendarForm } from '../calendars/calendar-form.tsx';
import { Feed } from '../calendars/feed.tsx';
import { ConfirmButton } from '../parts/dialog.tsx';
import { Missing, Page, Shown } from '../parts/page.tsx';
import { useLoad } from '../parts/use-load.ts';
import { NEW_ID } from '../router.ts';

/** @param props.id the calendar's name. */
export function CalendarPage({ id }: { readonly id: string }) {
  const isNew = id === NEW_ID;
  const path = `api/calendars/${encodeURIComponent(id)}`;
  const loaded = useLoad(
    ['calendar', id],
    async (signal) => (isNew ? null : await client.api<Calendar>(path, { signal })),
    { isKept: false },
  );
  return (
    <Page
      title={isNew ? t('calendar.new') : id}
      actions={
        <>
          <a class="button" href="#/calendars">
            {t('calendar.back')}
          </a>
          {loaded.value && (
            <ConfirmButton
              needs="editor"
              label={t('calendar.delete')}
              question={t('calendar.deleteQuestion')}
              done={t('calendar.deleted')}
              onConfirm={async () => {
                await client.api(path, { method: 'DELETE' });
                location.assign('#/calendars');
              }}
            />
          )}
        </>
      }
    >
      <Shown loaded={loaded} missing={<Missing what="calendar" path={path} />}>
        {(calendar) => <Panes calendar={calendar ?? undefined} onChanged={loaded.reload} />}
      </Shown>
    </Page>
  );
}

function Panes(props: { readonly calendar: Calendar | undefined; readonly onChanged: () => void }) {
  const { calendar, onChanged } = props;
  if (calendar === undefined) {
    const open = ({ name }: Calendar) => location.assign(`#/calendars/${name}`);
    return (
      <div class="panes panes-one">
        <CalendarForm calendar={undefined} onSaved={open} />
      </div>
    );
  }
  return (
    <div class="panes panes-even">
      <div class="pane-main">
        <Appointments calendar={calendar} />
      </div>
      <div class="pane-main">
        <CalendarForm calendar={calendar} onSaved={onChanged} />
        <Feed calendar={calendar} onRenewed={onChanged} />
      </div>
    </div>
  );
}

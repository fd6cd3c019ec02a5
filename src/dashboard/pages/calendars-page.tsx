/** The calendars that agents book appointments in: the list, and the page of one. */

import { useState } from 'preact/hooks';
import type { Appointment, Calendar } from '../api-types.ts';
import { client, formats, language, t, word } from '../app-state.ts';
import { daysOf, hoursText, localDay } from '../calendars/calendar.ts';
import { CalendarForm } from '../calendars/calendar-form.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { ConfirmButton } from '../parts/dialog.tsx';
import { TextField } from '../parts/field.tsx';
import { Empty, LinkButton, Page, Section, ShownPage, State, Table } from '../parts/page.tsx';
import { ResourcePage } from '../parts/resource-page.tsx';
import { useLoad, usePages } from '../parts/use-load.ts';
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
    <ResourcePage
      kind="calendar"
      title={isNew ? t('calendar.new') : id}
      path={path}
      loaded={loaded}
    >
      {(calendar) => <Panes calendar={calendar ?? undefined} onChanged={loaded.reload} />}
    </ResourcePage>
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

const PER_PAGE = 50;

export function Appointments({ calendar }: { readonly calendar: Calendar }) {
  const [date, setDate] = useState(() => localDay(new Date()));
  return (
    <Section title={t('calendar.appointments')}>
      <div class="filters">
        <TextField label={t('field.since')} type="date" value={date} onValue={setDate} />
      </div>
      <Days key={date} calendar={calendar} date={date} />
    </Section>
  );
}

/** @param props.date of the reader, empty while it is being typed, which shows those to come. */
function Days(props: { readonly calendar: Calendar; readonly date: string }) {
  const { calendar, date } = props;
  const from = date === '' ? undefined : new Date(`${date}T00:00`).toISOString();
  const path = `api/calendars/${calendar.name}/appointments`;
  const loaded = usePages<Appointment>(path, PER_PAGE, { from });
  const zone = { timeZone: calendar.timeZone, language: language.value };
  return (
    <ShownPage loaded={loaded}>
      {(appointments) =>
        appointments.length === 0 ? (
          <p class="empty">{t('calendar.noAppointments')}</p>
        ) : (
          daysOf(appointments, zone).map(({ day, appointments: those }) => (
            <div key={day} class="day">
              <h3>{day}</h3>
              <ul>
                {those.map((one) => (
                  <Row key={one.id} appointment={one} hours={hoursText(one, zone)} />
                ))}
              </ul>
            </div>
          ))
        )
      }
    </ShownPage>
  );
}

function Row(props: { readonly appointment: Appointment; readonly hours: string }) {
  const { title, attendeeName, attendeePhone, status, reason, callId } = props.appointment;
  return (
    <li class="appointment">
      <span class="number">{props.hours}</span>
      <div>
        <strong>{title}</strong> {attendeeName} <span class="number muted">{attendeePhone}</span>
        <div class="small">
          <State of={status} /> {reason !== null && word('appointmentReason', reason)}
        </div>
      </div>
      <a href={`#/calls/${callId}`}>{t('field.call')}</a>
    </li>
  );
}

export function Feed(props: { readonly calendar: Calendar; readonly onRenewed: () => void }) {
  const { calendar, onRenewed } = props;
  const path = `api/calendars/${calendar.name}/feed`;
  return (
    <Section title={t('calendar.feed')}>
      <p>{t('calendar.feedText')}</p>
      <p>
        <code class="secret">{calendar.feedUrl}</code>
      </p>
      <div class="actions">
        <CopyButton label={t('app.copy')} text={calendar.feedUrl} />
        <ConfirmButton
          needs="editor"
          class=""
          label={t('calendar.renew')}
          question={t('calendar.renewQuestion')}
          done={t('calendar.renewed')}
          onConfirm={() => client.api(path, { method: 'POST' }).then(onRenewed)}
        />
      </div>
    </Section>
  );
}

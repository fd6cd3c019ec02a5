/** The calendars that agents book appointments in: the list, and the page of one with its editor. */
import { useState } from 'preact/hooks';
import { messageUnder } from '../api-error.ts';
import type { Appointment, Calendar } from '../api-types.ts';
import { client, formats, language, refresh, t, word } from '../app-state.ts';
import {
  bodyOf,
  type CalendarDraft,
  changesOf,
  daysOf,
  draftOf,
  hoursText,
  localDay,
  NEW_HOURS,
  newCalendar,
  WEEKDAYS,
} from '../calendar.ts';
import { timeZone } from '../format.ts';
import { BroughtBack } from '../forms/kept-form.tsx';
import { FormConflict, ResourcePage, useResourceForm } from '../forms/resource-form.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { ConfirmButton } from '../parts/dialog.tsx';
import { SelectField, TextField, wordOptions } from '../parts/field.tsx';
import { Form, type FormState, RowsField } from '../parts/form.tsx';
import { Empty, LinkButton, Page, PagedTable, Section, ShownPage, State } from '../parts/page.tsx';
import { usePages, useResource } from '../parts/use-load.ts';
import { NEW_ID } from '../router.ts';
import { AddressHelp } from '../tools/http-request.tsx';

export function CalendarsPage() {
  const loaded = usePages<Calendar>('api/calendars', 50);
  return (
    <Page
      title={t('nav.calendars')}
      actions={
        <LinkButton needs="editor" isMain href={`#/calendars/${NEW_ID}`} text={t('calendar.new')} />
      }
    >
      <PagedTable
        label={t('nav.calendars')}
        empty={
          <Empty text={t('calendar.none')}>
            <LinkButton needs="editor" href={`#/calendars/${NEW_ID}`} text={t('calendar.create')} />
          </Empty>
        }
        loaded={loaded}
        hrefOf={({ name }) => `#/calendars/${name}`}
        columns={{
          name: ({ name }) => name,
          calendarKind: ({ kind }) => t(`calendar.${kind}`),
          timeZone: ({ timeZone }) => timeZone,
          slot: ['number', ({ slotMinutes }) => `${formats.value.count(slotMinutes)} min`],
        }}
      />
    </Page>
  );
}

/** @param props.id the calendar's name. */
export function CalendarPage({ id }: { readonly id: string }) {
  const isNew = id === NEW_ID;
  const path = `api/calendars/${encodeURIComponent(id)}`;
  const loaded = useResource<Calendar>(isNew ? undefined : path);
  return (
    <ResourcePage
      kind="calendar"
      title={isNew ? t('calendar.new') : id}
      path={path}
      loaded={loaded}
    >
      {(calendar) => <Panes calendar={calendar ?? undefined} />}
    </ResourcePage>
  );
}

function Panes({ calendar }: { readonly calendar: Calendar | undefined }) {
  if (calendar === undefined) {
    return (
      <div class="panes panes-one">
        <CalendarForm calendar={undefined} />
      </div>
    );
  }
  return (
    <div class="panes panes-even">
      <div class="pane-main">
        <Appointments calendar={calendar} />
      </div>
      <div class="pane-main">
        <CalendarForm calendar={calendar} />
        <Feed calendar={calendar} />
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

/** @param props.date in the reader's time zone; while it is empty, appointments still to come are shown. */
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

export function Feed({ calendar }: { readonly calendar: Calendar }) {
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
          onConfirm={() => client.api(path, { method: 'POST' }).then(refresh)}
        />
      </div>
    </Section>
  );
}

const CALENDARS = 'api/calendars';

/** Three a day. */
const HOURS_MAX = 21;

/** @param props.calendar undefined where one is made. */
export function CalendarForm({ calendar }: { readonly calendar: Calendar | undefined }) {
  const isNew = calendar === undefined;
  const form = useResourceForm<CalendarDraft, Calendar>({
    list: CALENDARS,
    resource: calendar,
    blank: () => newCalendar(timeZone),
    ...{ draftOf, bodyOf, changesOf },
    withoutSecrets: (draft) => ({ ...draft, password: '' }),
    saved: 'calendar.saved',
    onSaved: ({ name }) => {
      if (isNew) location.assign(`#/calendars/${name}`);
    },
  });
  return (
    <div class="card">
      <BroughtBack form={form} />
      <Form form={form} label={t(isNew ? 'calendar.create' : 'app.save')} needs="editor">
        <FormConflict form={form} textsOf={textsOf} />
        {isNew && <Naming form={form} />}
        {form.values.kind === 'caldav' && <ServerFields form={form} isNew={isNew} />}
        <SelectField
          {...form.field('timeZone', 'field.timeZone')}
          options={[...new Set([form.values.timeZone, ...Intl.supportedValuesOf('timeZone')])]
            .sort()
            .map((zone) => [zone, zone])}
        />
        <Hours form={form} />
        <Lengths form={form} />
        <AddressHelp error={form.error} />
      </Form>
    </div>
  );
}

/** A calendar by the labels of its fields. */
function textsOf(draft: CalendarDraft) {
  const hours = draft.hours.map(({ day, from, to }) => `${word('weekday', day)} ${from}–${to}`);
  return {
    [t('field.timeZone')]: draft.timeZone,
    [t('calendar.hours')]: hours.join('\n'),
    [t('calendar.slotMinutes')]: draft.slotMinutes,
    [t('calendar.bufferMinutes')]: draft.bufferMinutes,
    [t('calendar.minNoticeMinutes')]: draft.minNoticeMinutes,
    [t('calendar.maxDaysAhead')]: draft.maxDaysAhead,
    [t('field.url')]: draft.url,
    [t('access.name')]: draft.username,
  };
}

interface Fields {
  readonly form: FormState<CalendarDraft>;
}

function Naming({ form }: Fields) {
  return (
    <>
      <TextField {...form.field('name', 'field.name', 'calendar.nameHint')} />
      <SelectField
        {...form.field('kind', 'field.calendarKind')}
        options={[
          ['builtin', t('calendar.builtin')],
          ['caldav', t('calendar.caldav')],
        ]}
      />
    </>
  );
}

function ServerFields({ form, isNew }: Fields & { readonly isNew: boolean }) {
  return (
    <>
      <TextField {...form.field('url', 'field.url', 'calendar.urlHint')} />
      <div class="pair">
        <TextField {...form.field('username', 'access.name')} />
        <TextField
          type="password"
          autoComplete="new-password"
          hint={t(isNew ? 'calendar.passwordHint' : 'calendar.passwordKept')}
          {...form.field('password', 'access.password')}
        />
      </div>
    </>
  );
}

function Hours({ form }: Fields) {
  const wrong = messageUnder(form.wrong, 'workingHours');
  return (
    <RowsField
      label={t('calendar.hours')}
      hint={t('calendar.hoursHint')}
      path="workingHours"
      wrong={wrong === undefined ? {} : { workingHours: wrong }}
      rows={form.values.hours}
      columns={[
        {
          name: 'day',
          label: t('field.day'),
          options: wordOptions('weekday', WEEKDAYS),
        },
        { name: 'from', label: t('calls.from'), type: 'time' },
        { name: 'to', label: t('calls.to'), type: 'time' },
      ]}
      empty={NEW_HOURS}
      addText={t('calendar.addHours')}
      nameOf={({ day, from }) => `${day} ${from}`}
      max={HOURS_MAX}
      onRows={(hours) => form.change({ hours })}
    />
  );
}

function Lengths({ form }: Fields) {
  return (
    <div class="pair">
      <TextField
        type="number"
        {...form.field('slotMinutes', 'calendar.slotMinutes', 'calendar.slotHint')}
      />
      <TextField
        type="number"
        {...form.field('bufferMinutes', 'calendar.bufferMinutes', 'calendar.bufferHint')}
      />
      <TextField type="number" {...form.field('minNoticeMinutes', 'calendar.minNoticeMinutes')} />
      <TextField type="number" {...form.field('maxDaysAhead', 'calendar.maxDaysAhead')} />
    </div>
  );
}

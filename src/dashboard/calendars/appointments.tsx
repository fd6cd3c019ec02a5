/** What agents booked in a calendar, day by day. */
import { useState } from 'preact/hooks';
import type { Appointment, Calendar } from '../api-types.ts';
import { language, t, word } from '../app-state.ts';
import { TextField } from '../parts/field.tsx';
import { Section, ShownPage, State } from '../parts/page.tsx';
import { usePages } from '../parts/use-load.ts';
import { daysOf, hoursText, localDay } from './appointment-days.ts';

const PER_PAGE = 50;

export function Appointments({ calendar }: { readonly calendar: Calendar }) {
  const [date, setDate] = useState(() => localDay(new Date()));
  return (
    <Section title={t('calendar.appointments')}>
      <div class="filters">
        <TextField label={t('calendar.from')} type="date" value={date} onValue={setDate} />
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
      <a href={`#/calls/${callId}`}>{t('calendar.call')}</a>
    </li>
  );
}

/** The editor of a calendar: when it is open, how long appointments are, and the CalDAV server of one that has it. */
import { messageUnder } from '../api-error.ts';
import type { Calendar } from '../api-types.ts';
import { client, say, t, wordsOf } from '../app-state.ts';
import { BroughtBack } from '../parts/brought-back.tsx';
import { SelectField, TextField } from '../parts/field.tsx';
import { Form, type FormState } from '../parts/form.tsx';
import { RowsField } from '../parts/rows-field.tsx';
import { useKeptForm } from '../parts/use-kept-form.ts';
import { NEW_ID } from '../router.ts';
import { AddressHelp } from '../tools/address-help.tsx';
import {
  bodyOf,
  type CalendarDraft,
  changesOf,
  draftOf,
  NEW_HOURS,
  newCalendar,
  WEEKDAYS,
} from './calendar-draft.ts';

/** Three a day. */
const HOURS_MAX = 21;

/** @param props.calendar undefined where one is made. */
export function CalendarForm(props: {
  readonly calendar: Calendar | undefined;
  readonly onSaved: (calendar: Calendar) => void;
}) {
  const { calendar, onSaved } = props;
  const form = useKeptForm<CalendarDraft>({
    path: `api/calendars/${calendar?.name ?? NEW_ID}`,
    fresh: () => (calendar === undefined ? newCalendar(ownTimeZone()) : draftOf(calendar)),
    withoutSecrets: (draft) => ({ ...draft, password: '' }),
    send: async (draft, begun) => {
      const saved = await save(calendar, draft, begun);
      say(t('calendar.saved'));
      onSaved(saved);
      return calendar === undefined ? newCalendar(ownTimeZone()) : draftOf(saved);
    },
  });
  const isNew = calendar === undefined;
  return (
    <div class="card">
      <BroughtBack form={form} />
      <Form form={form} label={t(isNew ? 'calendar.create' : 'app.save')} needs="editor">
        {isNew && <Naming form={form} />}
        {form.values.kind === 'caldav' && <ServerFields form={form} isNew={isNew} />}
        <SelectField
          label={t('calendar.timeZone')}
          {...form.field('timeZone')}
          options={timeZones(form.values.timeZone).map((zone) => [zone, zone])}
        />
        <Hours form={form} />
        <Lengths form={form} />
        <AddressHelp text={form.error === undefined ? undefined : wordsOf(form.error)} />
      </Form>
    </div>
  );
}

/** @throws {ApiError} */
async function save(
  calendar: Calendar | undefined,
  draft: CalendarDraft,
  begun: CalendarDraft,
): Promise<Calendar> {
  if (calendar === undefined) {
    return await client.api('api/calendars', { method: 'POST', body: bodyOf(draft) });
  }
  const body = changesOf(draft, begun);
  if (Object.keys(body).length === 0) return calendar;
  return await client.api(`api/calendars/${calendar.name}`, { method: 'PATCH', body });
}

interface Fields {
  readonly form: FormState<CalendarDraft>;
}

function Naming({ form }: Fields) {
  return (
    <>
      <TextField label={t('field.name')} hint={t('calendar.nameHint')} {...form.field('name')} />
      <SelectField
        label={t('calendar.kind')}
        {...form.field('kind')}
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
      <TextField label={t('field.url')} hint={t('calendar.urlHint')} {...form.field('url')} />
      <div class="pair">
        <TextField label={t('calendar.username')} {...form.field('username')} />
        <TextField
          label={t('access.password')}
          type="password"
          autoComplete="new-password"
          hint={t(isNew ? 'calendar.passwordHint' : 'calendar.passwordKept')}
          {...form.field('password')}
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
          options: WEEKDAYS.map((day) => [day, t(`weekday.${day}`)]),
        },
        { name: 'from', label: t('calendar.opens'), type: 'time' },
        { name: 'to', label: t('calendar.closes'), type: 'time' },
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
        label={t('calendar.slotMinutes')}
        type="number"
        hint={t('calendar.slotHint')}
        {...form.field('slotMinutes')}
      />
      <TextField
        label={t('calendar.bufferMinutes')}
        type="number"
        hint={t('calendar.bufferHint')}
        {...form.field('bufferMinutes')}
      />
      <TextField
        label={t('calendar.minNoticeMinutes')}
        type="number"
        {...form.field('minNoticeMinutes')}
      />
      <TextField label={t('calendar.maxDaysAhead')} type="number" {...form.field('maxDaysAhead')} />
    </div>
  );
}

function ownTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Those that the browser knows, and the calendar's own. */
function timeZones(own: string): readonly string[] {
  return [...new Set([own, ...Intl.supportedValuesOf('timeZone')])].sort();
}

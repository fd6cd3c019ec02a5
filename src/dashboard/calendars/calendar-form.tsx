/** The editor of a calendar: when it is open, how long appointments are, and the CalDAV server of one that has it. */
import { messageUnder } from '../api-error.ts';
import type { Calendar } from '../api-types.ts';
import { say, t, word } from '../app-state.ts';
import { timeZone } from '../format.ts';
import { BroughtBack } from '../forms/kept-form.tsx';
import { FormConflict, useResourceForm } from '../forms/resource-form.tsx';
import { SelectField, TextField, wordOptions } from '../parts/field.tsx';
import { Form, type FormState } from '../parts/form.tsx';
import { RowsField } from '../parts/rows-field.tsx';
import { AddressHelp } from '../tools/http-request.tsx';
import {
  bodyOf,
  type CalendarDraft,
  changesOf,
  draftOf,
  NEW_HOURS,
  newCalendar,
  WEEKDAYS,
} from './calendar.ts';

const CALENDARS = 'api/calendars';

/** Three a day. */
const HOURS_MAX = 21;

/** @param props.calendar undefined where one is made. */
export function CalendarForm(props: {
  readonly calendar: Calendar | undefined;
  readonly onSaved: (calendar: Calendar) => void;
}) {
  const { calendar, onSaved } = props;
  const form = useResourceForm<CalendarDraft, Calendar>({
    list: CALENDARS,
    resource: calendar,
    blank: () => newCalendar(timeZone),
    ...{ draftOf, bodyOf, changesOf },
    withoutSecrets: (draft) => ({ ...draft, password: '' }),
    onSaved: (saved) => {
      say(t('calendar.saved'));
      onSaved(saved);
    },
  });
  const isNew = calendar === undefined;
  return (
    <div class="card">
      <BroughtBack form={form} />
      <Form form={form} label={t(isNew ? 'calendar.create' : 'app.save')} needs="editor">
        <FormConflict form={form} textsOf={textsOf} />
        {isNew && <Naming form={form} />}
        {form.values.kind === 'caldav' && <ServerFields form={form} isNew={isNew} />}
        <SelectField
          label={t('field.timeZone')}
          {...form.field('timeZone')}
          options={timeZones(form.values.timeZone).map((zone) => [zone, zone])}
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
      <TextField label={t('field.name')} hint={t('calendar.nameHint')} {...form.field('name')} />
      <SelectField
        label={t('field.calendarKind')}
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
        <TextField label={t('access.name')} {...form.field('username')} />
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

/** Those that the browser knows, and the calendar's own. */
function timeZones(own: string): readonly string[] {
  return [...new Set([own, ...Intl.supportedValuesOf('timeZone')])].sort();
}

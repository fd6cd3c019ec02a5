/** The iCalendar feed of a calendar: its secret link, to be copied or renewed. */
import { useRef } from 'preact/hooks';
import type { Calendar } from '../api-types.ts';
import { client, complain, say, t } from '../app-state.ts';
import { ConfirmButton, copyText } from '../parts/dialog.tsx';
import { Button, Section } from '../parts/page.tsx';

export function Feed(props: { readonly calendar: Calendar; readonly onRenewed: () => void }) {
  const { calendar, onRenewed } = props;
  const shown = useRef<HTMLElement>(null);
  const copy = () =>
    void copyText(calendar.feedUrl, shown.current).then(() => say(t('app.copied')), complain);
  const path = `api/calendars/${calendar.name}/feed`;
  return (
    <Section title={t('calendar.feed')}>
      <p>{t('calendar.feedText')}</p>
      <p>
        <code class="secret" ref={shown}>
          {calendar.feedUrl}
        </code>
      </p>
      <div class="actions">
        <Button text={t('app.copy')} onClick={copy} />
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

/** Numbers that want no messages: those that answered STOP, and those added by hand. */
import type { SmsOptOut } from '../api-types.ts';
import { client, say, t } from '../app-state.ts';
import { ConfirmButton, DialogButton } from '../parts/dialog.tsx';
import { TextField } from '../parts/field.tsx';
import { Form, useForm } from '../parts/form.tsx';
import { Instant, Section, ShownPage, Table } from '../parts/page.tsx';
import { usePages } from '../parts/use-load.ts';

const OPT_OUTS = 'api/sms-opt-outs';

const PER_PAGE = 50;

export function OptOuts() {
  const loaded = usePages<SmsOptOut>(OPT_OUTS, PER_PAGE);
  return (
    <Section
      title={t('sms.optOuts')}
      actions={
        <DialogButton needs="admin" label={t('sms.addOptOut')}>
          {(close) => <OptOutForm onSaved={loaded.reload} onClose={close} />}
        </DialogButton>
      }
    >
      <p class="muted">{t('sms.optOutsHint')}</p>
      <ShownPage loaded={loaded}>
        {(optOuts) => (
          <Table
            label={t('sms.optOuts')}
            empty={t('sms.noOptOuts')}
            rows={optOuts}
            keyOf={({ number }) => number}
            columns={{
              number: ['number', ({ number }) => number],
              since: ({ createdAt }) => <Instant at={createdAt} />,
              actions: ({ number }) => (
                <ConfirmButton
                  needs="admin"
                  label={t('sms.allow')}
                  question={t('sms.allowQuestion', { number })}
                  done={t('sms.allowed')}
                  onConfirm={() =>
                    client.api(pathOf(number), { method: 'DELETE' }).then(loaded.reload)
                  }
                />
              ),
            }}
          />
        )}
      </ShownPage>
    </Section>
  );
}

function OptOutForm(props: { readonly onSaved: () => void; readonly onClose: () => void }) {
  const form = useForm({ number: '' }, async ({ number }) => {
    await client.api(pathOf(number.trim()), { method: 'PUT' });
    say(t('sms.optOutAdded'));
    props.onSaved();
    props.onClose();
  });
  return (
    <Form form={form} label={t('sms.addOptOut')} onCancel={props.onClose} isChecked>
      <TextField
        label={t('field.number')}
        hint={t('sms.optOutHint')}
        type="tel"
        isRequired
        {...form.field('number')}
      />
    </Form>
  );
}

function pathOf(number: string): string {
  return `${OPT_OUTS}/${encodeURIComponent(number)}`;
}

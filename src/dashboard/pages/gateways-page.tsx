/** The SMS gateways that messages of agents go out over, and the numbers that want no messages (opt-outs). */
import type { SmsGateway, SmsOptOut } from '../api-types.ts';
import { client, may, say, t } from '../app-state.ts';
import { ConfirmButton, DialogButton } from '../parts/dialog.tsx';
import { TextField } from '../parts/field.tsx';
import { Form, useForm } from '../parts/form.tsx';
import { Empty, Instant, Page, Section, ShownPage, Table } from '../parts/page.tsx';
import { usePages } from '../parts/use-load.ts';
import { typeOf } from '../sms/gateway-draft.ts';
import { GATEWAYS, GatewayForm } from '../sms/gateway-form.tsx';

export function GatewaysPage() {
  const loaded = usePages<SmsGateway>(GATEWAYS, 50);
  return (
    <Page
      title={t('nav.gateways')}
      actions={
        <DialogButton needs="admin" label={t('sms.add')} class="main">
          {(close) => <GatewayForm gateway={undefined} onSaved={loaded.reload} onClose={close} />}
        </DialogButton>
      }
    >
      <ShownPage loaded={loaded}>
        {(gateways) => (
          <Table
            label={t('nav.gateways')}
            empty={<Empty text={t('sms.none')} />}
            rows={gateways}
            keyOf={({ name }) => name}
            columns={{
              name: ({ name }) => <code>{name}</code>,
              gatewayType: (gateway) => t(`sms.${typeOf(gateway)}`),
              sender: ['number', ({ from }) => from],
              // Its holder can report states of messages.
              reportsTo: may('admin') && ['url', ({ callbackUrl }) => callbackUrl ?? '–'],
              actions: (gateway) => <Actions gateway={gateway} onChanged={loaded.reload} />,
            }}
          />
        )}
      </ShownPage>
      <OptOuts />
    </Page>
  );
}

function Actions(props: { readonly gateway: SmsGateway; readonly onChanged: () => void }) {
  const { gateway, onChanged } = props;
  return (
    <div class="actions">
      <DialogButton needs="admin" label={t('webhooks.edit')} title={gateway.name}>
        {(close) => <GatewayForm gateway={gateway} onSaved={onChanged} onClose={close} />}
      </DialogButton>
      <ConfirmButton
        needs="admin"
        label={t('knowledge.delete')}
        question={t('sms.deleteQuestion', { name: gateway.name })}
        onConfirm={() =>
          client.api(`${GATEWAYS}/${gateway.name}`, { method: 'DELETE' }).then(onChanged)
        }
      />
    </div>
  );
}

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

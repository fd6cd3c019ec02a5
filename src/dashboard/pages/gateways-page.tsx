/** The SMS gateways that messages of agents go out over, and the numbers that want none. */
import type { SmsGateway } from '../api-types.ts';
import { client, may, t } from '../app-state.ts';
import { ConfirmButton, DialogButton } from '../parts/dialog.tsx';
import { Empty, Page, ShownPage, Table } from '../parts/page.tsx';
import { usePages } from '../parts/use-load.ts';
import { typeOf } from '../sms/gateway-draft.ts';
import { GATEWAYS, GatewayForm } from '../sms/gateway-form.tsx';
import { OptOuts } from '../sms/opt-outs.tsx';

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
        {(gateways) =>
          gateways.length === 0 ? (
            <Empty text={t('sms.none')} />
          ) : (
            <Table
              label={t('nav.gateways')}
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
          )
        }
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

/** One trunk: made step by step, changed, checked. */
import { useState } from 'preact/hooks';
import type { Trunk } from '../api-types.ts';
import { client, formats, route, sentence, t } from '../app-state.ts';
import { ConfirmButton } from '../parts/dialog.tsx';
import { Empty, Page, Section, Shown, State } from '../parts/page.tsx';
import { useLoad } from '../parts/use-load.ts';
import { NEW_ID } from '../router.ts';
import { TrunkCheckPane } from './trunk-check.tsx';
import { TrunkForm } from './trunk-form.tsx';
import { TrunkWizard } from './trunk-wizard.tsx';
import { MADE_TRUNK } from './wizard-steps.ts';

const REFRESH_MS = 5000;

/** @param props.id the trunk's name. */
export function TrunkPage({ id }: { readonly id: string }) {
  const isNew = id === NEW_ID;
  // A wizard that was reloaded goes on with the trunk that it has made.
  const [name] = useState(() => (isNew ? route.value.query.get(MADE_TRUNK) : id));
  const path = `api/trunks/${encodeURIComponent(name ?? '')}`;
  const loaded = useLoad(
    ['trunk', name],
    async (signal) => (name === null ? null : await client.api<Trunk>(path, { signal })),
    { isKept: false },
  );
  return (
    <Page
      title={isNew ? t('trunk.new') : id}
      actions={
        <>
          <a class="button" href="#/trunks">
            {t('trunk.back')}
          </a>
          {!isNew && loaded.value?.source === 'api' && (
            <ConfirmButton
              needs="admin"
              label={t('trunk.delete')}
              question={t('trunk.deleteQuestion')}
              done={t('trunk.deleted')}
              onConfirm={async () => {
                await client.api(path, { method: 'DELETE' });
                location.assign('#/trunks');
              }}
            />
          )}
        </>
      }
    >
      <Shown loaded={loaded} missing={<Empty text={t('trunk.missing')} />}>
        {(trunk) =>
          isNew || trunk === null ? (
            <TrunkWizard made={trunk ?? undefined} />
          ) : (
            <Panes trunk={trunk} onChanged={loaded.reload} />
          )
        }
      </Shown>
    </Page>
  );
}

function Panes(props: { readonly trunk: Trunk; readonly onChanged: () => void }) {
  const { trunk, onChanged } = props;
  return (
    <div class="panes panes-even">
      <div class="pane-main">
        <Now trunk={trunk} />
        <TrunkCheckPane trunk={trunk} />
      </div>
      <div class="pane-main">
        {trunk.source === 'file' ? (
          <p class="notice">{t('trunk.ofFile')}</p>
        ) : (
          <TrunkForm trunk={trunk} onSaved={onChanged} />
        )}
      </div>
    </div>
  );
}

/** Follows the trunk on its own: the form keeps what it began with. */
function Now({ trunk }: { readonly trunk: Trunk }) {
  const path = `api/trunks/${encodeURIComponent(trunk.name)}`;
  const { value: followed = trunk } = useLoad(
    ['trunk now', trunk.name],
    (signal) => client.api<Trunk>(path, { signal }),
    { refreshMs: REFRESH_MS },
  );
  const { state, detail, addressInUse, callsInProgress, numbers } = followed;
  return (
    <Section title={t('trunk.now')}>
      <p>
        <State of={state} /> {sentence(detail)}
      </p>
      <p class="small">
        {t('trunk.tells', { address: addressInUse.address ?? t('trunk.ownAddress') })}{' '}
        {t('trunk.callsNow', { calls: formats.value.count(callsInProgress) })}
      </p>
      <p class="number">{numbers.join(', ')}</p>
    </Section>
  );
}

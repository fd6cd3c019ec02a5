/** The page of one trunk: its state, its form, its check, or the wizard of a new one. */
import { useState } from 'preact/hooks';
import type { Trunk } from '../api-types.ts';
import { client, formats, route, say, sentence, t } from '../app-state.ts';
import { BroughtBack, useKeptForm } from '../forms/kept-form.tsx';
import { Form } from '../parts/form.tsx';
import { Section, State } from '../parts/page.tsx';
import { ResourcePage } from '../parts/resource-page.tsx';
import { useLoad } from '../parts/use-load.ts';
import { NEW_ID } from '../router.ts';
import { saveTrunk } from './save-trunk.ts';
import { TrunkCheckPane } from './trunk-check.tsx';
import { draftOf, EDITABLE_FIELDS, type TrunkDraft } from './trunk-draft.ts';
import { TrunkFields, TrunkPriceFields } from './trunk-fields.tsx';
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
    <ResourcePage
      kind="trunk"
      title={isNew ? t('trunk.new') : id}
      path={path}
      loaded={loaded}
      needs="admin"
      isDeletable={({ source }) => !isNew && source === 'api'}
    >
      {(trunk) =>
        isNew || trunk === null ? (
          <TrunkWizard made={trunk ?? undefined} />
        ) : (
          <Panes trunk={trunk} onChanged={loaded.reload} />
        )
      }
    </ResourcePage>
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

export function TrunkForm(props: {
  readonly trunk: Trunk;
  readonly onSaved: (trunk: Trunk) => void;
}) {
  const { trunk, onSaved } = props;
  const form = useKeptForm<TrunkDraft>({
    kept: {
      path: `api/trunks/${trunk.name}`,
      withoutSecrets: (draft) => ({ ...draft, password: '' }),
    },
    fresh: () => draftOf(trunk),
    send: async (draft, begun) => {
      const saved = await saveTrunk(trunk, draft, begun);
      say(t('trunk.saved'));
      onSaved(saved);
      return draftOf(saved);
    },
  });
  return (
    <div class="card">
      <BroughtBack form={form} />
      <Form form={form} label={t('app.save')} needs="admin">
        <TrunkFields form={form} names={EDITABLE_FIELDS} hasPassword={trunk.hasPassword} />
        <TrunkPriceFields form={form} />
      </Form>
    </div>
  );
}

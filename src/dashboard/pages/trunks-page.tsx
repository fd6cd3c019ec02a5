/** The trunks: the list with the line to each carrier and its numbers, and the page of one: its state, form and check, or the wizard of a new one. */

import { useState } from 'preact/hooks';
import type { Trunk } from '../api-types.ts';
import { client, formats, refresh, route, say, sentence, t } from '../app-state.ts';
import { BroughtBack, useKeptForm } from '../forms/kept-form.tsx';
import { ResourcePage } from '../forms/resource-form.tsx';
import { Form } from '../parts/form.tsx';
import {
  Button,
  Empty,
  Instant,
  LinkButton,
  Page,
  Section,
  Shown,
  State,
  Table,
} from '../parts/page.tsx';
import { useApi, useLoad, useResource } from '../parts/use-load.ts';
import { NEW_ID } from '../router.ts';
import { saveTrunk } from '../trunks/save-trunk.ts';
import { TrunkCheckPane } from '../trunks/trunk-check.tsx';
import { draftOf, EDITABLE_FIELDS, type TrunkDraft } from '../trunks/trunk-draft.ts';
import { TrunkFields, TrunkPriceFields } from '../trunks/trunk-fields.tsx';
import { TrunkWizard } from '../trunks/trunk-wizard.tsx';
import { MADE_TRUNK } from '../trunks/wizard-steps.ts';

/** A trunk registers, and loses its line, while the page is open. */
const REFRESH_MS = 5000;

export function TrunksPage() {
  const options = { refreshMs: REFRESH_MS };
  const loaded = useApi<{ readonly data: readonly Trunk[] }>('api/trunks', {}, options);
  return (
    <Page
      title={t('nav.trunks')}
      actions={
        <>
          <Button text={t('system.look')} onClick={loaded.reload} />
          <NewTrunk />
        </>
      }
    >
      <Shown loaded={loaded}>{({ data }) => <TrunkTable trunks={data} />}</Shown>
    </Page>
  );
}

function NewTrunk() {
  return <LinkButton needs="admin" isMain href={`#/trunks/${NEW_ID}`} text={t('trunk.add')} />;
}

function TrunkTable({ trunks }: { readonly trunks: readonly Trunk[] }) {
  const { count } = formats.value;
  return (
    <Table
      label={t('nav.trunks')}
      empty={
        <Empty text={t('trunks.none')}>
          <NewTrunk />
        </Empty>
      }
      rows={trunks}
      hrefOf={({ name }) => `#/trunks/${encodeURIComponent(name)}`}
      columns={{
        name: ({ name }) => name,
        carrier: ['url', ({ proxy }) => proxy],
        transport: ({ transport }) => transport,
        state: ({ state, detail }) => (
          // One item in the card of a narrow screen.
          <span>
            <State of={state} /> {sentence(detail)}
          </span>
        ),
        registeredUntil: ({ expiresAt }) => <Instant at={expiresAt} />,
        numbers: ({ numbers }) => numbers.join(', ') || '–',
        codecs: ({ codecs }) => codecs.join(', '),
        callsNow: [
          'number',
          ({ callsInProgress: now, maxCalls: max }) =>
            max === null ? count(now) : `${count(now)} / ${count(max)}`,
        ],
      }}
    />
  );
}

/** @param props.id the trunk's name. */
export function TrunkPage({ id }: { readonly id: string }) {
  const isNew = id === NEW_ID;
  // After a reload the wizard continues with the trunk that it has made.
  const [name] = useState(() => (isNew ? route.value.query.get(MADE_TRUNK) : id));
  const path = `api/trunks/${encodeURIComponent(name ?? '')}`;
  const loaded = useResource<Trunk>(name === null ? undefined : path);
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
          <Panes trunk={trunk} />
        )
      }
    </ResourcePage>
  );
}

function Panes({ trunk }: { readonly trunk: Trunk }) {
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
          <TrunkForm trunk={trunk} />
        )}
      </div>
    </div>
  );
}

/** Reloads the trunk apart from the form, which keeps its initial values. */
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

export function TrunkForm({ trunk }: { readonly trunk: Trunk }) {
  const form = useKeptForm<TrunkDraft>({
    kept: {
      path: `api/trunks/${trunk.name}`,
      withoutSecrets: (draft) => ({ ...draft, password: '' }),
    },
    fresh: () => draftOf(trunk),
    send: async (draft, begun) => {
      const saved = await saveTrunk(trunk, draft, begun);
      say(t('trunk.saved'));
      refresh();
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

/** Models: engines in use and their speed, models of each profile, and downloads. */
import { useEffect } from 'preact/hooks';
import type { Model, ModelCatalogue, ModelDownload } from '../../api-types.ts';
import { client, formats, refresh, sentence, t, word } from '../../app-state.ts';
import { EngineTable, SelfTestSection, useReadiness } from '../../parts/engines.tsx';
import { useSubmit } from '../../parts/form.tsx';
import { Button, Page, Problem, Section, Shown, State, Table } from '../../parts/page.tsx';
import { useApi } from '../../parts/use-load.ts';

const DOWNLOADS = 'api/models/downloads';

const REFRESH_MS = 1000;

type Profile = ModelCatalogue['profiles'][number];

type Wanted = { readonly profile: Profile['name'] } | { readonly modelId: string };

export function ModelsPage() {
  const readiness = useReadiness();
  const loaded = useApi<ModelCatalogue>('api/models', {}, { isOfInstallation: true });
  return (
    <Page title={t('nav.models')}>
      <Shown loaded={readiness}>
        {({ engines }) => <EngineTable title={t('models.now')} engines={engines} />}
      </Shown>
      <SelfTestSection />
      <Shown loaded={loaded}>{(catalogue) => <Catalogue catalogue={catalogue} />}</Shown>
    </Page>
  );
}

function Catalogue({ catalogue }: { readonly catalogue: ModelCatalogue }) {
  const { models, downloads, isRestartNeeded } = catalogue;
  const [newest] = downloads;
  return (
    <>
      {isRestartNeeded && <p class="box busy">{t('models.restart')}</p>}
      {newest !== undefined && <Download key={newest.id} begun={newest} models={models} />}
      <Profiles catalogue={catalogue} />
      <Section title={t('models.list')}>
        <Table
          label={t('models.list')}
          rows={models}
          columns={{
            name: ({ name }) => name,
            job: ({ kind }) => word('job', kind === 'gguf' ? 'llm' : kind),
            size: ['number', ({ sizeBytes }) => formats.value.size(sizeBytes)],
            licence: ['small', (model) => <Licence of={model} />],
            state: ({ state }) => <State of={state} />,
            actions: ({ id, name, missingBytes }) => (
              <StartButton
                {...{ name, missingBytes, wanted: { modelId: id } }}
                isRunning={newest?.state === 'running'}
              />
            ),
          }}
        />
      </Section>
    </>
  );
}

function Profiles({ catalogue }: { readonly catalogue: ModelCatalogue }) {
  const { profiles, models, downloads } = catalogue;
  const { size } = formats.value;
  const modelsOf = ({ modelIds }: Profile) => models.filter(({ id }) => modelIds.includes(id));
  const namesOf = (profile: Profile) => modelsOf(profile).map(({ name }) => name);
  const licencesOf = (profile: Profile) => [
    ...new Set(modelsOf(profile).map(({ licence }) => licence)),
  ];
  return (
    <Section title={t('models.profiles')}>
      <p class="muted">
        {t('models.profilesText')} {t('models.command')}
      </p>
      <Table
        label={t('models.profiles')}
        rows={profiles}
        columns={{
          name: ({ name }) => word('profile', name),
          models: ['small', (profile) => namesOf(profile).join(', ')],
          licence: ['small', (profile) => licencesOf(profile).join(', ')],
          size: ['number', ({ sizeBytes }) => size(sizeBytes)],
          missing: [
            'number',
            ({ missingBytes }) => (missingBytes === 0 ? '–' : size(missingBytes)),
          ],
          actions: ({ name, missingBytes }) => (
            <StartButton
              {...{ missingBytes, wanted: { profile: name } }}
              name={word('profile', name)}
              isRunning={downloads[0]?.state === 'running'}
            />
          ),
        }}
      />
    </Section>
  );
}

/** Starts a download; says that all files are there if none is missing. */
function StartButton(props: {
  readonly name: string;
  readonly missingBytes: number;
  readonly wanted: Wanted;
  readonly isRunning: boolean;
}) {
  const { name, missingBytes, wanted, isRunning } = props;
  const { isBusy, error, submit } = useSubmit(async () => {
    await client.in('live').api<ModelDownload>(DOWNLOADS, { method: 'POST', body: wanted });
    refresh();
  });
  if (missingBytes === 0) return <span class="muted">{t('models.all')}</span>;
  return (
    <>
      <Button
        needs="admin"
        text={t('models.download')}
        aria-label={t('models.downloadOf', { name })}
        onClick={submit}
        disabled={isBusy || isRunning}
      />
      <Problem error={error} />
    </>
  );
}

/** The newest download: how far it is, or how it ended. */
function Download(props: { readonly begun: ModelDownload; readonly models: readonly Model[] }) {
  const { begun, models } = props;
  const isBegun = begun.state === 'running';
  const path = `${DOWNLOADS}/${begun.id}`;
  const { value: followed = begun, error } = useApi<ModelDownload>(
    path,
    {},
    { isOfInstallation: true, ...(isBegun && { refreshMs: REFRESH_MS }) },
  );
  // The end of a download is final: the newest followed state may be older than that.
  const value = isBegun ? followed : begun;
  useEffect(() => {
    if (isBegun && value.state !== 'running') refresh();
  }, [isBegun, value.state]);
  const {
    isBusy,
    error: refusal,
    submit,
  } = useSubmit(async () => {
    await client.in('live').api(path, { method: 'DELETE' });
    refresh();
  });
  const name =
    value.profile === null
      ? (models.find(({ id }) => id === value.modelId)?.name ?? value.modelId ?? '')
      : word('profile', value.profile);
  const title = t('models.under', { name });
  const isRunning = value.state === 'running';
  return (
    <Section
      title={title}
      actions={
        isRunning && (
          <Button needs="admin" text={t('models.cancel')} onClick={submit} disabled={isBusy} />
        )
      }
    >
      <p role="status">
        <State of={value.state} />
      </p>
      {isRunning && <Progress of={value} label={title} />}
      {value.state === 'cancelled' && <p class="muted">{t('models.cancelled')}</p>}
      {value.problem !== null && <p class="box bad">{sentence(value.problem)}</p>}
      <Problem error={error ?? refusal} />
    </Section>
  );
}

function Progress({ of: download, label }: { readonly of: ModelDownload; readonly label: string }) {
  const { doneBytes, totalBytes, bytesPerSecond, files } = download;
  const { size } = formats.value;
  const values = { done: size(doneBytes), total: size(totalBytes), rate: size(bytesPerSecond) };
  return (
    <>
      <progress aria-label={label} max={Math.max(1, totalBytes)} value={doneBytes} />
      <p>{t('models.progress', values)}</p>
      <p class="muted small">{files.length === 0 ? t('models.checking') : files.join(', ')}</p>
    </>
  );
}

/** SPDX expression, with a link to the page that states it, and the conditions of the licence. */
function Licence({ of: { licence, licenceUrl, licenceNote } }: { readonly of: Model }) {
  return (
    <>
      <a href={licenceUrl} rel="noreferrer" target="_blank">
        {licence}
      </a>
      {licenceNote !== null && <p class="muted small">{sentence(licenceNote)}</p>}
    </>
  );
}

/** Versions of an agent: the foot of its form, which saves, publishes and shows conflicts, and what each change was, with the way back. */

import { useState } from 'preact/hooks';
import type { Agent, AgentContent, AgentVersion, Paged, Responsiveness } from '../api-types.ts';
import { client, formats, may, refresh, t, word } from '../app-state.ts';
import { ChangeConflict, DifferenceList } from '../forms/resource-form.tsx';
import { ConfirmButton, DialogButton } from '../parts/dialog.tsx';
import { SelectField } from '../parts/field.tsx';
import { Button, Instant, Pager, Problem, Section, Shown, Table } from '../parts/page.tsx';
import { useApi } from '../parts/use-load.ts';
import { differencesOf, fieldOf } from './agent-changes.ts';
import { type AgentDraft, agentWith, isNumberFreed } from './agent-draft.ts';
import type { AgentFormState } from './use-agent-form.ts';

/** @param props.agent as it is live; undefined where one is created. */
export function SaveBar(props: {
  readonly agent: Agent | undefined;
  readonly form: AgentFormState;
}) {
  const { agent, form } = props;
  const { conflict, isChanged, savedAt } = form;
  const isInSight = isChanged || savedAt !== undefined;
  return (
    <>
      {conflict !== undefined && (
        <ChangeConflict onSettle={form.settle}>
          <Differences before={conflict.theirs} after={agentWith(conflict.theirs, form.draft)} />
        </ChangeConflict>
      )}
      <div class={isInSight ? 'save-bar save-bar-changed' : 'save-bar'}>
        {conflict === undefined && <Problem error={form.error} />}
        {savedAt !== undefined && <DraftLine savedAt={savedAt} onDiscard={form.discardDraft} />}
        <div class="actions">
          {may('editor') && <SendButtons isNew={agent === undefined} form={form} />}
          {isInSight && agent !== undefined && (
            <DialogButton label={t('agent.showChanges')}>
              {(close) => <Changes agent={agent} draft={form.draft} onClose={close} />}
            </DialogButton>
          )}
          {isChanged && agent !== undefined && (
            <ConfirmButton
              class=""
              label={t('agent.dropChanges')}
              question={t('agent.dropQuestion')}
              onConfirm={async () => form.discard()}
            />
          )}
          {isChanged && <Unsaved isNew={agent === undefined} form={form} />}
        </div>
      </div>
    </>
  );
}

function SendButtons(props: { readonly isNew: boolean; readonly form: AgentFormState }) {
  const { isNew, form } = props;
  return (
    <>
      <button type="submit" class="main" disabled={form.isBusy}>
        {t(isNew ? 'agent.create' : 'agent.publish')}
      </button>
      {!isNew && (
        <Button
          text={t('agent.saveDraft')}
          disabled={form.isBusy || !form.isChanged}
          onClick={() => form.saveDraft()}
        />
      )}
    </>
  );
}

/** Says that the server keeps changes that no caller hears. */
function DraftLine(props: { readonly savedAt: string; readonly onDiscard: () => Promise<void> }) {
  const { savedAt, onDiscard } = props;
  return (
    <div class="actions">
      <span>{t('agent.draftOf', { at: formats.value.dayTime(savedAt) })}</span>
      <ConfirmButton
        needs="editor"
        class=""
        label={t('agent.discardDraft')}
        question={t('agent.discardDraftQuestion')}
        done={t('agent.draftDiscarded')}
        onConfirm={onDiscard}
      />
    </div>
  );
}

function Unsaved(props: { readonly isNew: boolean; readonly form: AgentFormState }) {
  const { isNew, form } = props;
  const isFreed = isNumberFreed(form.draft, form.live);
  return (
    <span class="muted" role="status">
      <strong>{t('agent.unsaved')}</strong>
      {!isNew && ` ${t(isFreed ? 'agent.numberNotInDraft' : 'agent.publishedIsLive')}`}
    </span>
  );
}

/** Changes that publishing would make. */
function Changes(props: {
  readonly agent: Agent;
  readonly draft: AgentDraft;
  readonly onClose: () => void;
}) {
  const { agent, draft, onClose } = props;
  return (
    <>
      <Differences before={agent} after={agentWith(agent, draft)} />
      <div class="actions">
        <Button class="main" text={t('app.close')} onClick={onClose} />
      </div>
    </>
  );
}

const PER_PAGE = 10;

export function Versions(props: {
  readonly agent: Agent;
  readonly onRestored: (agent: Agent) => void;
}) {
  const { agent, onRestored } = props;
  const [offset, setOffset] = useState(0);
  const path = `api/agents/${encodeURIComponent(agent.id)}/versions`;
  // One more than is shown: the version before the last one.
  const query = { limit: PER_PAGE + 1, offset };
  const loaded = useApi<Paged<AgentVersion>>(path, query);
  const restore = async (version: number) => {
    onRestored(await client.api<Agent>(`${path}/${version}/restore`, { method: 'POST' }));
    setOffset(0);
    refresh();
  };
  return (
    <Section title={t('versions.title')}>
      <Shown loaded={loaded}>
        {({ data, total }) => (
          <>
            <VersionTable
              versions={data}
              isNewestShown={offset === 0}
              onRestore={restore}
              now={agent}
            />
            {total > PER_PAGE && (
              <Pager total={total} offset={offset} limit={PER_PAGE} onOffset={setOffset} />
            )}
          </>
        )}
      </Shown>
    </Section>
  );
}

function VersionTable(props: {
  readonly versions: readonly AgentVersion[];
  readonly isNewestShown: boolean;
  readonly now: AgentContent;
  readonly onRestore: (version: number) => Promise<void>;
}) {
  const { versions, isNewestShown, now, onRestore } = props;
  return (
    <Table
      label={t('versions.title')}
      rows={versions.slice(0, PER_PAGE)}
      keyOf={({ version }) => version}
      columns={{
        no: ['number', ({ version }) => version],
        since: ({ at }) => <Instant at={at} />,
        by: ({ by }) => t(`versions.by.${by}`),
        changed: changedText,
        actions: (one, index) => (
          <div class="actions">
            <DialogButton
              label={t('versions.compare')}
              title={t('versions.compareTitle', { version: one.version })}
            >
              {(close) => (
                <Comparison version={one} before={versions[index + 1]} now={now} onClose={close} />
              )}
            </DialogButton>
            {(!isNewestShown || index > 0) && (
              <ConfirmButton
                needs="editor"
                class=""
                label={t('versions.restore')}
                question={t('versions.question', { version: one.version })}
                done={t('versions.restored', { version: one.version })}
                onConfirm={() => onRestore(one.version)}
              />
            )}
          </div>
        ),
      }}
    />
  );
}

function changedText({ version, changed }: AgentVersion): string {
  if (version === 1) return t('versions.made');
  return changed.map((name) => word('agent', fieldOf(name))).join(', ');
}

function Comparison(props: {
  readonly version: AgentVersion;
  readonly before: AgentVersion | undefined;
  readonly now: AgentContent;
  readonly onClose: () => void;
}) {
  const { version, before, now, onClose } = props;
  const [way, setWay] = useState(before === undefined ? 'back' : 'then');
  const values = { version: version.version };
  const goingBack = ['back', t('versions.goingBack', values)] as const;
  const options =
    before === undefined
      ? [goingBack]
      : [['then', t('versions.itChanged', values)] as const, goingBack];
  const from = way === 'then' && before !== undefined ? before.agent : now;
  return (
    <>
      <SelectField label={t('versions.show')} value={way} options={options} onValue={setWay} />
      <Differences before={from} after={version.agent} />
      <div class="actions">
        <Button class="main" text={t('app.close')} onClick={onClose} />
      </div>
    </>
  );
}

/** Differences between two versions of an agent, with every word removed or added. */
function Differences(props: { readonly before: AgentContent; readonly after: AgentContent }) {
  const words = {
    yes: t('versions.yes'),
    no: t('versions.no'),
    none: '–',
    responsivenessOf: (responsiveness: Responsiveness) => t(`responsiveness.${responsiveness}`),
    voicemailOf: (action: AgentContent['settings']['voicemail']['action']) =>
      t(`voicemail.${action}`),
    toolOf: (tool: string) => word('tool', tool),
  };
  const differences = differencesOf(props.before, props.after, words);
  const rows = differences.map(({ field, ...texts }) => ({ label: t(`agent.${field}`), ...texts }));
  return <DifferenceList rows={rows} />;
}

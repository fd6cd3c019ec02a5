/** The page of one resource and its form, with the conflict where another person saved meanwhile. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, isMissing } from '../api-error.ts';
import type { Role } from '../api-types.ts';
import { client, refresh, say, t } from '../app-state.ts';
import { ConfirmButton } from '../parts/dialog.tsx';
import { Button, Empty, LinkButton, Missing, Page, Shown } from '../parts/page.tsx';
import type { Loaded } from '../parts/use-load.ts';
import { NEW_ID } from '../router.ts';
import type { TextKey } from '../text/text.ts';
import { type Fields, mergedFields, textDiff } from './form-changes.ts';
import { type KeptFormState, useKeptForm } from './kept-form.tsx';

/** Version of a resource that is not made yet. */
const NO_VERSION = '';

interface Resource {
  readonly name: string;
  readonly updatedAt: string;
}

export interface ResourceFormState<Values> extends KeptFormState<Values> {
  /** The version that another person saved meanwhile; undefined without one. */
  readonly conflict: Values | undefined;
  /** Continues from that version, with or without the changes of this form. */
  readonly settle: (whose: 'mine' | 'theirs') => void;
}

interface Options<Values, Thing> {
  /** Path of all of its kind in the API. */
  readonly list: string;
  /** Undefined where one is made. */
  readonly resource: Thing | undefined;
  /** Initial values for a new one. */
  readonly blank: () => Values;
  readonly draftOf: (resource: Thing) => Values;
  readonly bodyOf: (values: Values) => Fields;
  readonly changesOf: (values: Values, begun: Values) => Fields;
  /** Left out for a form that is not kept while the reader looks at another page. */
  readonly withoutSecrets?: (values: Values) => Values;
  /** Message after saving. */
  readonly saved: TextKey;
  readonly onSaved: (resource: Thing) => void;
}

export function useResourceForm<Values extends object, Thing extends Resource>(
  options: Options<Values, Thing>,
): ResourceFormState<Values> {
  const { list, resource, blank, draftOf, withoutSecrets, onSaved } = options;
  const path = `${list}/${resource?.name ?? NEW_ID}`;
  const [version, setVersion] = useState(resource?.updatedAt ?? NO_VERSION);
  const [conflict, setConflict] = useState<Thing | undefined>(undefined);
  const form = useKeptForm<Values>({
    kept: withoutSecrets && { path, withoutSecrets },
    fresh: () => (resource === undefined ? blank() : draftOf(resource)),
    send: async (values, begun) => {
      const saved = await save(options, { values, begun, version });
      setConflict(saved.isNewer ? saved.resource : undefined);
      if (saved.isNewer) return undefined;
      setVersion(saved.resource.updatedAt);
      say(t(options.saved));
      refresh();
      onSaved(saved.resource);
      return resource === undefined ? blank() : draftOf(saved.resource);
    },
  });
  const settle = (whose: 'mine' | 'theirs') => {
    if (conflict === undefined) return;
    const { begun, values: mine } = form;
    const theirs = draftOf(conflict);
    setVersion(conflict.updatedAt);
    setConflict(undefined);
    form.restart(theirs, whose === 'theirs' ? theirs : mergedFields({ begun, mine, theirs }));
  };
  return { ...form, conflict: conflict && draftOf(conflict), settle };
}

/** The saved version, or a newer one that another person saved meanwhile. */
interface Saved<Thing> {
  readonly resource: Thing;
  readonly isNewer: boolean;
}

/** @throws {ApiError} */
async function save<Values, Thing extends Resource>(
  { list, resource, bodyOf, changesOf }: Options<Values, Thing>,
  form: { readonly values: Values; readonly begun: Values; readonly version: string },
): Promise<Saved<Thing>> {
  const { values, begun, version } = form;
  const saved = (thing: Thing) => ({ resource: thing, isNewer: false });
  if (resource === undefined) {
    return saved(await client.api<Thing>(list, { method: 'POST', body: bodyOf(values) }));
  }
  const body = changesOf(values, begun);
  if (Object.keys(body).length === 0) return saved(resource);
  const path = `${list}/${resource.name}`;
  try {
    const ask = { method: 'PATCH', body, ifUpdatedAt: version } as const;
    return saved(await client.api<Thing>(path, ask));
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 412)) throw error;
    return { resource: await client.api<Thing>(path), isNewer: true };
  }
}

export function ChangeConflict(props: {
  /** The version of the server, compared with the form as it is. */
  readonly children: ComponentChildren;
  readonly onSettle: (whose: 'mine' | 'theirs') => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), [props.children]);
  return (
    <div class="box bad" role="alert" ref={box}>
      <p>{t('conflict.text')}</p>
      <p class="muted small">{t('conflict.legend')}</p>
      {props.children}
      <div class="actions">
        <Button class="main" text={t('conflict.keepMine')} onClick={() => props.onSettle('mine')} />
        <Button text={t('conflict.takeTheirs')} onClick={() => props.onSettle('theirs')} />
      </div>
    </div>
  );
}

/** The conflict of a resource's form; empty without one. */
export function FormConflict<Values>(props: {
  readonly form: Pick<ResourceFormState<Values>, 'values' | 'conflict' | 'settle'>;
  /** Values as text by the labels of their fields, without secrets. */
  readonly textsOf: (values: Values) => Readonly<Record<string, string>>;
}) {
  const { form, textsOf } = props;
  if (form.conflict === undefined) return null;
  const theirs = textsOf(form.conflict);
  const rows = Object.entries(textsOf(form.values))
    .map(([label, after]) => ({ label, before: theirs[label] ?? '', after }))
    .filter(({ before, after }) => before !== after);
  return (
    <ChangeConflict onSettle={form.settle}>
      <DifferenceList rows={rows} />
    </ChangeConflict>
  );
}

interface Difference {
  readonly label: string;
  readonly before: string;
  readonly after: string;
}

export function DifferenceList({ rows }: { readonly rows: readonly Difference[] }) {
  if (rows.length === 0) return <p class="empty">{t('versions.same')}</p>;
  return (
    <dl class="differences">
      {rows.map(({ label, before, after }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>
            <Compared before={before} after={after} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Marks differences by signs, not by colours alone. */
function Compared(props: { readonly before: string; readonly after: string }) {
  return (
    <>
      {textDiff(props.before, props.after).map(({ kind, text }, index) => {
        const key = `${index} ${kind}`;
        if (kind === 'gone') return <del key={key}>{text}</del>;
        if (kind === 'new') return <ins key={key}>{text}</ins>;
        return <span key={key}>{text}</span>;
      })}
    </>
  );
}

/** @param props.loaded null where a new one is made. */
export function ResourcePage<Thing>(props: {
  readonly kind: 'agent' | 'calendar' | 'tool' | 'trunk';
  readonly title: string;
  /** API path of the resource. */
  readonly path: string;
  readonly loaded: Loaded<Thing | null>;
  /** Role that its deletion needs; an editor's unless given. */
  readonly needs?: Role;
  readonly isDeletable?: (thing: Thing) => boolean;
  readonly children: (thing: Thing | null) => ComponentChildren;
}) {
  const { kind, title, path, loaded, needs = 'editor', isDeletable = () => true } = props;
  const thing = isMissing(loaded.error) ? null : loaded.value;
  const list = `#/${kind}s`;
  // A trunk is of no environment.
  const missing =
    kind === 'trunk' ? <Empty text={t('trunk.missing')} /> : <Missing what={kind} path={path} />;
  return (
    <Page
      title={title}
      actions={
        <>
          <LinkButton href={list} text={t(`${kind}.back`)} />
          {thing && isDeletable(thing) && (
            <ConfirmButton
              needs={needs}
              label={t(`${kind}.delete`)}
              question={t(`${kind}.deleteQuestion`)}
              done={t(`${kind}.deleted`)}
              onConfirm={async () => {
                await client.api(path, { method: 'DELETE' });
                location.assign(list);
              }}
            />
          )}
        </>
      }
    >
      <Shown loaded={loaded} missing={missing}>
        {props.children}
      </Shown>
    </Page>
  );
}

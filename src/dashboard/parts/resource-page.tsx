/** The page of one resource: the way back to all of its kind, its deletion, and what is shown of it. */
import type { ComponentChildren } from 'preact';
import { isMissing } from '../api-error.ts';
import type { Role } from '../api-types.ts';
import { client, t } from '../app-state.ts';
import { ConfirmButton } from './dialog.tsx';
import { Empty, LinkButton, Missing, Page, Shown } from './page.tsx';
import type { Loaded } from './use-load.ts';

/** @param props.loaded null where a new one is made. */
export function ResourcePage<Thing>(props: {
  readonly kind: 'agent' | 'calendar' | 'tool' | 'trunk';
  readonly title: string;
  /** Of the resource in the API. */
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

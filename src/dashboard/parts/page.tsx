/** Parts of every page: heading, actions, states of loading, tables that scroll by themselves. */
import { Inbox } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { ApiError, isMissing } from '../api-error.ts';
import type { Role } from '../api-types.ts';
import { client, environment, formats, look, may, t, word, wordsOf } from '../app-state.ts';
import { Icon, type IconShape } from '../frame/icon.tsx';
import { isComingBack } from '../frame/scroll-memory.ts';
import type { TextKey } from '../text/text.ts';
import { type Loaded, type LoadedPage, useLoad } from './use-load.ts';

interface TitledProps {
  readonly title: string;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Moves the focus to its heading when it comes, so that the keyboard and screen readers begin there. */
export function Page({ title, actions, children }: TitledProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: isComingBack() }), []);
  useEffect(() => {
    document.title = `${title} · Offhook`;
  }, [title]);
  return (
    <>
      <div class="page-head row">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        <div class="actions">{actions}</div>
      </div>
      {children}
    </>
  );
}

export function Section({ title, actions, children }: TitledProps) {
  return (
    <section class="card" aria-label={title}>
      <div class="card-head row">
        <h2>{title}</h2>
        <div class="actions">{actions}</div>
      </div>
      {children}
    </section>
  );
}

/** A button with a text, which sends no form. Hidden from roles that may not use it. */
export function Button(props: {
  readonly text: string;
  readonly onClick: () => void;
  readonly class?: string;
  readonly disabled?: boolean;
  /** Accessible name, where the text alone does not say it. */
  readonly 'aria-label'?: string;
  /** Role that it needs; a viewer's unless given. */
  readonly needs?: Role;
}) {
  const { text, needs = 'viewer', ...rest } = props;
  if (!may(needs)) return null;
  return (
    <button type="button" {...rest}>
      {text}
    </button>
  );
}

/** A link that looks like a button. Hidden from roles that may not use it. */
export function LinkButton(props: {
  readonly href: string;
  readonly text: string;
  readonly isMain?: boolean;
  /** Role that it needs; a viewer's unless given. */
  readonly needs?: Role;
}) {
  const { href, text, isMain = false, needs = 'viewer' } = props;
  if (!may(needs)) return null;
  return (
    <a class={isMain ? 'button main' : 'button'} href={href}>
      {text}
    </a>
  );
}

/** Shows the loaded value, or the error. @param props.missing shown instead when the resource does not exist. */
export function Shown<Value>(props: {
  readonly loaded: Loaded<Value>;
  readonly missing?: ComponentChildren;
  readonly children: (value: Value) => ComponentChildren;
}) {
  const { value, error, reload } = props.loaded;
  if (props.missing !== undefined && isMissing(error)) return <>{props.missing}</>;
  return (
    <>
      <Problem error={error}>
        <Button text={t('app.again')} onClick={reload} />
      </Problem>
      {value === undefined && error === undefined && <Loading />}
      {value !== undefined && props.children(value)}
    </>
  );
}

/** Grey rows as a placeholder while a value is loaded. */
export function Loading() {
  return (
    <div class="loading" role="status">
      <span class="unseen">{t('app.loading')}</span>
      {[1, 2, 3, 4, 5].map((row) => (
        <div key={row} class="skeleton" />
      ))}
    </div>
  );
}

/** The items of a page of a list, and the way to the others. */
export function ShownPage<Item>(props: {
  readonly loaded: LoadedPage<Item>;
  readonly children: (items: readonly Item[]) => ComponentChildren;
}) {
  const { loaded, children } = props;
  return (
    <Shown loaded={loaded}>
      {({ data, total }) => (
        <>
          {children(data)}
          {total > loaded.limit && <Pager {...loaded} total={total} />}
        </>
      )}
    </Shown>
  );
}

/** A page of a list as a table. */
export function PagedTable<Row>(
  props: Omit<TableProps<Row>, 'rows'> & { readonly loaded: LoadedPage<Row> },
) {
  const { loaded, ...table } = props;
  return <ShownPage loaded={loaded}>{(rows) => <Table {...table} rows={rows} />}</ShownPage>;
}

/** Placeholder for an empty list: its purpose, and the way to the first entry. */
export function Empty(props: {
  readonly text: string;
  readonly icon?: IconShape;
  readonly children?: ComponentChildren;
}) {
  const { text, icon = Inbox, children } = props;
  return (
    <div class="empty empty-page">
      <Icon of={icon} />
      <p>{text}</p>
      {children}
    </div>
  );
}

/** Text of an error; nothing without one. */
export function Problem(props: { readonly error: unknown; readonly children?: ComponentChildren }) {
  const { error, children } = props;
  if (error === undefined) return null;
  return (
    <div class="box bad" role="alert">
      <p>{wordsOf(error)}</p>
      {error instanceof ApiError && error.requestId && <RequestId of={error.requestId} />}
      {children}
    </div>
  );
}

/** The id of a request; it leads to its row in the log, for those who may read that. */
function RequestId({ of: requestId }: { readonly of: string }) {
  return (
    <p class="muted small">
      {may('editor') ? <a href={`#/logs?requestId=${requestId}`}>{requestId}</a> : requestId}
    </p>
  );
}

/** Names that tables and forms share: `field.<name>`. */
export type FieldName = TextKey extends infer Key
  ? Key extends `field.${infer Name}`
    ? Name
    : never
  : never;

type Cell<Row> = (row: Row, index: number) => ComponentChildren;

/** Cells of each column, with their class where it has one. False leaves a column out. */
export type Columns<Row> = Readonly<
  Partial<Record<FieldName, Cell<Row> | readonly [cellClass: string, cell: Cell<Row>] | false>>
>;

function RowLink(props: {
  readonly href: string | undefined;
  readonly children: ComponentChildren;
}) {
  const { href, children } = props;
  if (href === undefined) return <>{children}</>;
  return (
    <a class="row-link" href={href}>
      {children}
    </a>
  );
}

interface TableProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: Columns<Row>;
  /** Stands in its place where there are no rows: a text, or more than that. */
  readonly empty?: ComponentChildren;
  /** Key of a row; its id or name unless given, else its place. */
  readonly keyOf?: (row: Row) => string | number;
  /** Address of a row: its first cell becomes a link that covers the row. Undefined for a row without one. */
  readonly hrefOf?: (row: Row) => string | undefined;
}

function ownKey(row: unknown): string | undefined {
  const { id, name } = row as { readonly id?: string; readonly name?: string };
  return id ?? name;
}

/** Scrolls sideways by itself where it is too wide, by keyboard too; on narrow screens each row is a card. */
export function Table<Row>(props: TableProps<Row>) {
  const { label, rows, empty, keyOf = ownKey, hrefOf } = props;
  if (rows.length === 0 && typeof empty === 'string') return <p class="empty">{empty}</p>;
  if (rows.length === 0 && empty !== undefined) return <>{empty}</>;
  const columns = Object.entries(props.columns).flatMap(([name, column]) => {
    if (!column) return [];
    const [cellClass, cell] = typeof column === 'function' ? [undefined, column] : column;
    return { name: name as FieldName, cellClass, cell };
  });
  return (
    <Scroller class="table" label={label}>
      <table>
        <thead>
          <tr>
            {columns.map(({ name, cellClass }) => (
              <th key={name} scope="col" class={cellClass}>
                {t(`field.${name}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={keyOf(row) ?? index}>
              {columns.map(({ name, cellClass, cell }, column) => (
                <td key={name} class={cellClass} data-label={t(`field.${name}`)}>
                  <RowLink href={column === 0 ? hrefOf?.(row) : undefined}>
                    {cell(row, index)}
                  </RowLink>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroller>
  );
}

/** Box for wide content, which scrolls by itself, by keyboard too. A group, since a landmark each would be too many. */
export function Scroller(props: {
  readonly class: string;
  readonly label: string;
  readonly children: ComponentChildren;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <div class={props.class} role="group" aria-label={props.label} tabIndex={0}>
      {props.children}
    </div>
  );
}

const STATES = {
  good: 'completed confirmed delivered active succeeded passed ready there',
  busy: 'open in_progress ringing pending draining degraded stand_in partly warn',
  bad: 'failed not_ready error',
};

const TONES: ReadonlyMap<string, string> = new Map(
  Object.entries(STATES).flatMap(([tone, states]) => states.split(' ').map((name) => [name, tone])),
);

/** A state as the server names it, in words; the colour only repeats it. */
export function State(props: { readonly of: string }) {
  return <span class={`state ${TONES.get(props.of) ?? 'plain'}`}>{word('state', props.of)}</span>;
}

/** Time since an instant, with the instant itself on hover; a date for times longer ago than a day. */
export function Ago({ at }: { readonly at: string }) {
  const { ago, instant } = formats.value;
  return (
    <time dateTime={at} title={instant(at)}>
      {ago(at, Date.now())}
    </time>
  );
}

export function Instant(props: { readonly at: string | null }) {
  if (props.at === null) return <span class="muted">–</span>;
  return <time dateTime={props.at}>{formats.value.instant(props.at)}</time>;
}

/** @param props.class `facts`, or `figures` where numbers are to be large. */
export function FactList(props: {
  readonly class: 'facts' | 'figures';
  readonly facts: readonly (readonly [name: string, value: ComponentChildren])[];
}) {
  return (
    <dl class={props.class}>
      {props.facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Goes through a list page by page. */
export function Pager(props: {
  readonly total: number;
  readonly offset: number;
  readonly limit: number;
  readonly onOffset: (offset: number) => void;
}) {
  const { total, offset, limit, onOffset } = props;
  const { count } = formats.value;
  const last = Math.min(offset + limit, total);
  const values = {
    first: count(Math.min(offset + 1, total)),
    last: count(last),
    total: count(total),
  };
  return (
    <nav class="pager" aria-label={t('pager.label')}>
      <Button
        text={t('pager.before')}
        disabled={offset === 0}
        onClick={() => onOffset(Math.max(0, offset - limit))}
      />
      <span role="status">{t('pager.where', values)}</span>
      <Button
        text={t('pager.after')}
        disabled={last >= total}
        onClick={() => onOffset(offset + limit)}
      />
    </nav>
  );
}

export function Missing(props: {
  readonly what: 'agent' | 'call' | 'campaign' | 'endpoint' | 'tool' | 'calendar';
  /** Path of the thing in the API. */
  readonly path: string;
}) {
  const { what, path } = props;
  const here = environment.value;
  const there = here === 'live' ? 'test' : 'live';
  const loaded = useLoad(['has', there, path], (signal) => client.in(there).has(path, signal));
  const names = { here: t(`environment.${here}`), there: t(`environment.${there}`) };
  return (
    <Shown loaded={loaded}>
      {(isElsewhere) =>
        isElsewhere ? (
          <div class="notice row" role="alert">
            <p>{t(`missing.${what}Elsewhere`, names)}</p>
            <Button class="main" text={t('missing.switch', names)} onClick={() => look(there)} />
          </div>
        ) : (
          <p class="empty" role="alert">
            {t(`missing.${what}`, names)}
          </p>
        )
      }
    </Shown>
  );
}

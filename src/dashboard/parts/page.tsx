/** What every page is made of: heading, actions, states of loading, tables that scroll by themselves. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { ApiError, isMissing } from '../api-error.ts';
import { client, environment, formats, language, look, t, wordsOf } from '../app-state.ts';
import { wordOf } from '../text/text.ts';
import { type Loaded, useLoad } from './use-load.ts';

/** Moves the focus to its heading when it comes, so that the keyboard and screen readers begin there. */
export function Page(props: {
  readonly title: string;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  useEffect(() => {
    document.title = `${props.title} · Offhook`;
  }, [props.title]);
  return (
    <>
      <div class="page-head">
        <h1 ref={heading} tabIndex={-1}>
          {props.title}
        </h1>
        <div class="actions">{props.actions}</div>
      </div>
      {props.children}
    </>
  );
}

export function Section(props: {
  readonly title: string;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return (
    <section class="card" aria-label={props.title}>
      <div class="card-head">
        <h2>{props.title}</h2>
        <div class="actions">{props.actions}</div>
      </div>
      {props.children}
    </section>
  );
}

/** Shows what was loaded, or why it was not. @param props.missing stands in its place where there is no such thing. */
export function Shown<Value>(props: {
  readonly loaded: Loaded<Value>;
  readonly missing?: ComponentChildren;
  readonly children: (value: Value) => ComponentChildren;
}) {
  const { value, error, reload } = props.loaded;
  if (props.missing !== undefined && isMissing(error)) return <>{props.missing}</>;
  return (
    <>
      {error === undefined ? null : (
        <Problem error={error}>
          <button type="button" onClick={reload}>
            {t('app.again')}
          </button>
        </Problem>
      )}
      {value === undefined && error === undefined ? <p class="muted">{t('app.loading')}</p> : null}
      {value === undefined ? null : props.children(value)}
    </>
  );
}

export function Problem(props: { readonly error: unknown; readonly children?: ComponentChildren }) {
  const { error } = props;
  const requestId = error instanceof ApiError ? error.requestId : undefined;
  return (
    <div class="problem" role="alert">
      <p>{wordsOf(error)}</p>
      {requestId === undefined ? null : <p class="muted small">{requestId}</p>}
      {props.children}
    </div>
  );
}

/** Scrolls sideways by itself on narrow screens, by keyboard too. */
export function Table(props: {
  readonly label: string;
  readonly heads: readonly string[];
  readonly children: ComponentChildren;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <section class="table" aria-label={props.label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {props.heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{props.children}</tbody>
      </table>
    </section>
  );
}

const TONES: Readonly<Record<string, string>> = {
  completed: 'good',
  active: 'good',
  succeeded: 'good',
  passed: 'good',
  ready: 'good',
  in_progress: 'busy',
  ringing: 'busy',
  pending: 'busy',
  draining: 'busy',
  fallback: 'busy',
  stand_in: 'busy',
  failed: 'bad',
  not_ready: 'bad',
};

/** A state as the server names it, in words; the colour only repeats it. */
export function State(props: { readonly of: string }) {
  return (
    <span class={`state state-${TONES[props.of] ?? 'plain'}`}>
      {wordOf(language.value, 'state', props.of)}
    </span>
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
  return (
    <nav class="pager" aria-label={t('pager.label')}>
      <button
        type="button"
        disabled={offset === 0}
        onClick={() => onOffset(Math.max(0, offset - limit))}
      >
        {t('pager.before')}
      </button>
      <span role="status">
        {t('pager.where', {
          first: count(Math.min(offset + 1, total)),
          last: count(last),
          total: count(total),
        })}
      </span>
      <button type="button" disabled={last >= total} onClick={() => onOffset(offset + limit)}>
        {t('pager.after')}
      </button>
    </nav>
  );
}

export function Missing(props: {
  readonly what: 'agent' | 'call' | 'endpoint';
  /** Path of the thing in the API. */
  readonly path: string;
}) {
  const { what, path } = props;
  const here = environment.value;
  const there = here === 'live' ? 'test' : 'live';
  const loaded = useLoad((signal) => isThere(path, there, signal), [path, there]);
  const names = { here: t(`environment.${here}`), there: t(`environment.${there}`) };
  return (
    <Shown loaded={loaded}>
      {(isElsewhere) =>
        isElsewhere ? (
          <div class="notice" role="alert">
            <p>{t(`missing.${what}Elsewhere`, names)}</p>
            <button type="button" class="main" onClick={() => look(there)}>
              {t('missing.switch', names)}
            </button>
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

async function isThere(
  path: string,
  there: 'live' | 'test',
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await client.in(there).api(path, { signal });
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

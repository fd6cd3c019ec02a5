/** Shown in a form when another person saved the same thing meanwhile: both versions, and what to do. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../app-state.ts';
import { Button } from '../parts/page.tsx';
import { DifferenceList } from './difference-list.tsx';
import type { ResourceFormState } from './use-resource-form.ts';

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

/** The conflict of a resource's form; nothing where there is none. */
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

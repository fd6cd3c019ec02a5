/** What is different between two versions of a thing: by field, with every word that went and came. */
import { t } from '../app-state.ts';
import { textDiff } from '../text-diff.ts';

export interface Difference {
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

/** Signs say what colours show. */
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

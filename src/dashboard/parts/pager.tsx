/** Goes through a list page by page. */
import { formats, t } from '../app-state.ts';

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

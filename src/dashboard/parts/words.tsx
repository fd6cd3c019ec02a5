/** What was said on a call, word for word, with what is being heard in grey. */
import type { TranscriptEntry } from '../api-types.ts';
import { formats, t } from '../app-state.ts';

export function Words(props: {
  readonly entries: readonly TranscriptEntry[];
  readonly hearing?: string;
  /** Which entry is being heard; -1 for none. */
  readonly current?: number;
  /** Makes the times buttons that go to the place in the recording. */
  readonly onSeek?: ((index: number) => void) | undefined;
}) {
  const { entries, hearing = '', current = -1, onSeek } = props;
  return (
    <ol class="words">
      {entries.map((entry, index) => (
        <li
          key={`${index} ${entry.timestamp}`}
          class={`said said-${entry.role}`}
          aria-current={index === current ? 'true' : undefined}
        >
          <span class="who">{t(entry.role === 'agent' ? 'words.agent' : 'words.caller')}</span>
          <span class="text">{entry.text}</span>
          <Moment entry={entry} onSeek={onSeek && (() => onSeek(index))} />
        </li>
      ))}
      {hearing === '' ? null : (
        <li class="said said-user hearing">
          <span class="who">{t('words.caller')}</span>
          <span class="text">{hearing}…</span>
        </li>
      )}
    </ol>
  );
}

function Moment(props: {
  readonly entry: TranscriptEntry;
  readonly onSeek: (() => void) | undefined;
}) {
  const { entry, onSeek } = props;
  const sure =
    entry.confidence === undefined ? '' : ` · ${formats.value.percent(entry.confidence)}`;
  const text = `${formats.value.time(entry.timestamp)}${sure}`;
  if (onSeek === undefined) return <span class="when">{text}</span>;
  return (
    <button type="button" class="when quiet" onClick={onSeek} title={t('words.seek')}>
      {text}
    </button>
  );
}

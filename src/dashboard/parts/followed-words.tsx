/** The transcript in a box that scrolls along with what is being heard, unless the reader has scrolled away. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { TranscriptEntry } from '../api-types.ts';
import { t } from '../app-state.ts';
import { Words } from './words.tsx';

/** Of the box, that stays above the entry. */
const ABOVE = 0.3;

export function FollowedWords(props: {
  readonly entries: readonly TranscriptEntry[];
  readonly current: number;
  readonly onSeek: (index: number) => void;
}) {
  const { entries, current, onSeek } = props;
  const box = useRef<HTMLElement>(null);
  /** Where we have scrolled to ourselves: any other place is the reader's doing. */
  const ownTop = useRef(0);
  const [isFollowing, setFollowing] = useState(true);
  useEffect(() => {
    const element = box.current;
    const entry = element?.querySelector<HTMLElement>('[aria-current]') ?? null;
    if (element === null || entry === null || !isFollowing) return;
    const top = entry.offsetTop - element.clientHeight * ABOVE;
    element.scrollTop = top;
    ownTop.current = element.scrollTop;
  }, [current, isFollowing]);
  const look = () => {
    const top = box.current?.scrollTop ?? 0;
    if (Math.abs(top - ownTop.current) > 2) setFollowing(false);
  };
  const label = t('words.label');
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <section class="followed" ref={box} tabIndex={0} aria-label={label} onScroll={look}>
        <Words
          entries={entries}
          current={current}
          onSeek={(index) => {
            setFollowing(true);
            onSeek(index);
          }}
        />
      </section>
      {isFollowing || current === -1 ? null : (
        <button type="button" onClick={() => setFollowing(true)}>
          {t('words.follow')}
        </button>
      )}
    </>
  );
}

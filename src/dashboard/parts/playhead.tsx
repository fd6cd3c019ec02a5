/** The line that shows where a recording is being heard. */
import { useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type Stretch, shareAt } from '../time-line.ts';
import type { Player } from './use-player.ts';

/** Further than sound goes from one frame to the next: somebody has moved it. */
const JUMP_MS = 1000;

export function Playhead(props: {
  readonly stretch: Stretch;
  readonly player: Player;
  /** Told when the sound goes on beyond the stretch, or is moved out of it; not when the reader looks elsewhere. */
  readonly onLeft: (atMs: number) => void;
}) {
  const line = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const last = useRef({ atMs: 0, isInside: true });
  const place = (atMs: number) => {
    const share = shareAt(latest.current.stretch, atMs);
    const isInside = share >= 0 && share <= 1;
    last.current = { atMs, isInside };
    if (line.current === null) return;
    line.current.hidden = !isInside;
    // A transform moves it without laying the page out anew.
    line.current.style.transform = `translateX(${(share * 100).toFixed(3)}%)`;
  };
  useSignalEffect(() => {
    const atMs = props.player.atMs.value;
    const before = last.current;
    place(atMs);
    const hasMoved = before.isInside || Math.abs(atMs - before.atMs) > JUMP_MS;
    if (hasMoved && !last.current.isInside) latest.current.onLeft(atMs);
  });
  useEffect(() => place(props.player.atMs.peek()), [props.stretch.fromMs, props.stretch.toMs]);
  return <div class="playhead" ref={line} aria-hidden="true" />;
}

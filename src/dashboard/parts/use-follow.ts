/** Keeps a box that scrolls at its newest words, unless the reader has scrolled up to read. */
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** So near to its end counts as at its end. */
const NEAR_PX = 120;

export function useFollow<Box extends HTMLElement>(
  dependencies: readonly unknown[],
): RefObject<Box | null> {
  const ref = useRef<Box>(null);
  useEffect(() => {
    const box = ref.current;
    if (box === null) return;
    if (box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX) {
      box.scrollTop = box.scrollHeight;
    }
  }, [...dependencies]);
  return ref;
}

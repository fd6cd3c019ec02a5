/** Whether an element is in sight, so that what is far outside of the window costs nothing. */
import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** Elements this near to the window count as seen: they are up to date when they come into sight. */
const MARGIN = '300px';

/** True until the browser has looked. */
export function useSeen(element: RefObject<HTMLElement | null>): boolean {
  const [isSeen, setSeen] = useState(true);
  useEffect(() => {
    if (element.current === null) return;
    const look = (entries: readonly IntersectionObserverEntry[]) =>
      setSeen(entries.at(-1)?.isIntersecting ?? true);
    const observer = new IntersectionObserver(look, { rootMargin: MARGIN });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return isSeen;
}

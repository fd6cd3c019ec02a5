/** Remembers how far each entry of the browser's history was scrolled: the way back shows a page as it was left. */

/** A page that is not as tall again by then stays where it is. */
const WAIT_MS_MAX = 3000;

const scrolled = new Map<number, number>();

/** Key of the history entry that is shown: the instant at which it was new. */
let place = 0;
let isReturning = false;

/** Whether the page that is shown was reached by going back or forward. */
export function isComingBack(): boolean {
  return isReturning;
}

/** Begins to remember. Once, before the first page is drawn. */
export function rememberScrolling(): void {
  // The browser's own way scrolls before the page has its content.
  history.scrollRestoration = 'manual';
  place = placeOf(history.state) ?? Date.now();
  addEventListener('scroll', () => scrolled.set(place, scrollY), { passive: true });
}

/** Gives the history entry its final address, in place of the address that led to it. */
export function settle(address: string): void {
  const isSettled = address === location.hash && placeOf(history.state) === place;
  if (!isSettled) history.replaceState({ place }, '', address);
}

/** Takes note of another entry, before it is settled. */
export function arrive(): void {
  const known = placeOf(history.state);
  isReturning = known !== undefined;
  place = known ?? Date.now();
  const top = scrolled.get(place);
  if (isReturning && top !== undefined) scrollBack(top, performance.now() + WAIT_MS_MAX, place);
}

/** Waits until the page is tall enough, unless the reader scrolls or leaves the page. */
function scrollBack(top: number, untilMs: number, wanted: number): void {
  const stop = new AbortController();
  for (const deed of ['wheel', 'touchmove', 'keydown', 'pointerdown']) {
    addEventListener(deed, () => stop.abort(), { signal: stop.signal, passive: true });
  }
  const step = () => {
    if (stop.signal.aborted) return;
    const isTall = document.documentElement.scrollHeight - innerHeight >= top;
    if (isTall) scrollTo(0, top);
    if (isTall || performance.now() > untilMs || place !== wanted) return stop.abort();
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

function placeOf(state: unknown): number | undefined {
  if (typeof state !== 'object' || state === null || !('place' in state)) return undefined;
  return typeof state.place === 'number' ? state.place : undefined;
}

/** What keys do on a time line; pure */

const STEP_MS = 5000;
const FINE_MS = 1000;
const LEAP_MS = 30_000;

export type KeyDeed =
  | { readonly kind: 'seek'; readonly atMs: number }
  | { readonly kind: 'toggle' }
  | { readonly kind: 'zoom'; readonly factor: number };

/** What the key asks for at this place; undefined where it means nothing here. */
export function deedOf(
  { key, shiftKey }: { readonly key: string; readonly shiftKey: boolean },
  atMs: number,
  durationMs: number,
): KeyDeed | undefined {
  const seek = (toMs: number): KeyDeed => ({
    kind: 'seek',
    atMs: Math.min(durationMs, Math.max(0, toMs)),
  });
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowDown':
      return seek(atMs - (shiftKey ? FINE_MS : STEP_MS));
    case 'ArrowRight':
    case 'ArrowUp':
      return seek(atMs + (shiftKey ? FINE_MS : STEP_MS));
    case 'PageDown':
      return seek(atMs - LEAP_MS);
    case 'PageUp':
      return seek(atMs + LEAP_MS);
    case 'Home':
      return seek(0);
    case 'End':
      return seek(durationMs);
    case ' ':
      return { kind: 'toggle' };
    case '+':
      return { kind: 'zoom', factor: 2 };
    case '-':
      return { kind: 'zoom', factor: 0.5 };
    default:
      return undefined;
  }
}

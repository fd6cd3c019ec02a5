/** What this browser keeps for the page. One that refuses keeps nothing, and the page goes on without. */

/** A function, because a browser may refuse its storage itself. */
export type Box = () => Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** As long as the browser keeps it. */
export const BROWSER: Box = () => localStorage;

/** As long as the window is open, and no longer. */
export const WINDOW: Box = () => sessionStorage;

/** Undefined where nothing is kept. */
export function kept(box: Box, name: string): string | undefined {
  try {
    return box().getItem(`offhook.${name}`) ?? undefined;
  } catch {
    return undefined;
  }
}

/** @param text undefined forgets it. */
export function keep(box: Box, name: string, text: string | undefined): void {
  try {
    if (text === undefined) box().removeItem(`offhook.${name}`);
    else box().setItem(`offhook.${name}`, text);
  } catch {
    // It is full or shut off.
  }
}

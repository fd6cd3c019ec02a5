/** Browser storage of the page. Where the browser refuses it, nothing is kept, and the page goes on without. */

/** A function, because a browser may refuse its storage itself. */
export type Box = () => Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** Storage that lasts as long as the browser keeps it. */
export const BROWSER: Box = () => localStorage;

/** Storage that lasts until the window is closed. */
export const WINDOW: Box = () => sessionStorage;

/** The kept text; undefined without one. */
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

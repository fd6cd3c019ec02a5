/** The SIP of one leg to FreeSWITCH on its way through drachtio-fsmrf, which does not listen for FreeSWITCH's BYE. */

/** FreeSWITCH's BYE. */
interface Bye {
  get(header: string): string | undefined;
}

/** A dialog as drachtio-srf makes it. */
export interface LegDialog {
  on(event: 'destroy', listener: (bye: Bye) => void): void;
  destroy(): Promise<unknown>;
}

/** The one method of drachtio-srf's client that legs are made with. */
export interface LegSip {
  createUAC(
    uri: string,
    options: object,
    progress: object,
    callback: (error: unknown, dialog?: LegDialog) => void,
  ): void;
}

/** The same as drachtio-fsmrf calls it. */
export interface WatchedSip {
  createUAC(uri: string, options: object): Promise<LegDialog>;
}

/** FreeSWITCH answered, and took the leg back before it could be used. */
export class LegEndedError extends Error {
  override readonly name = 'LegEndedError';
}

/**
 * Wraps the client for one leg.
 *
 * @returns `ended` rejects with {@link LegEndedError} at FreeSWITCH's BYE, and never resolves. It belongs into a race.
 */
export function watched(client: LegSip): {
  readonly srf: WatchedSip;
  readonly ended: Promise<never>;
} {
  const ending = Promise.withResolvers<never>();
  const createUAC = (uri: string, options: object) =>
    new Promise<LegDialog>((resolve, reject) => {
      // By callback: BYE may come with the same packet as the answer, before a promise would have been heard.
      client.createUAC(uri, options, {}, (error, dialog) => {
        if (dialog === undefined) return reject(error);
        endQuietly(dialog);
        dialog.on('destroy', (bye) => ending.reject(endedBy(bye)));
        resolve(dialog);
      });
    });
  return { srf: { createUAC }, ended: ending.promise };
}

/** The library ends a dialog that it has given up, and waits for nobody; it may be over by then. */
function endQuietly(dialog: LegDialog): void {
  const end = dialog.destroy.bind(dialog);
  let isOver = false;
  dialog.on('destroy', () => {
    isOver = true;
  });
  dialog.destroy = async () => {
    if (!isOver) await end().catch(() => undefined);
  };
}

function endedBy(bye: Bye): LegEndedError {
  const reason = bye.get('Reason') ?? 'no reason given';
  return new LegEndedError(`it answered, and ended the leg at once (${reason})`);
}

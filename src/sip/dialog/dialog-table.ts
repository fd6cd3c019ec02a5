/** All dialogs of a user agent, by their id. */
import type { Logger } from '../../lib/logger.ts';
import type { MessageIds } from '../message/message-ids.ts';
import { TurnoverMap } from '../turnover-map.ts';
import { Dialog } from './dialog.ts';
import type { DialogCoreOptions } from './dialog-core.ts';
import { DialogCore } from './dialog-core.ts';
import { DialogIncoming } from './dialog-incoming.ts';
import { DialogOutgoing } from './dialog-outgoing.ts';
import { dialogIdOfRequest } from './dialog-state.ts';

/** A dialog with all its parts. Applications see the first only. */
export interface OpenDialog {
  readonly dialog: Dialog;
  readonly core: DialogCore;
  readonly incoming: DialogIncoming;
  readonly outgoing: DialogOutgoing;
}

export class DialogTable {
  readonly #dialogs = new TurnoverMap<OpenDialog>();

  get size(): number {
    return this.#dialogs.size;
  }

  get(id: string): OpenDialog | undefined {
    return this.#dialogs.get(id);
  }

  /** The dialog that a request of a peer is for. */
  ofRequest(ids: MessageIds): OpenDialog | undefined {
    return this.#dialogs.get(dialogIdOfRequest(ids));
  }

  /** Makes a dialog, early; it stays until its end. */
  open(options: Omit<DialogCoreOptions, 'hooks'>): OpenDialog {
    const core: DialogCore = new DialogCore({
      ...options,
      hooks: {
        onRequest: (request) => dialog.emit('request', request),
        onReinvite: (request) => dialog.emit('reinvite', request),
        onAck: (ack) => dialog.emit('ack', ack),
        onDisconnected: () => tell(() => dialog.emit('disconnected'), options.context.logger),
        onEnded: (end) => {
          incoming.dropPending();
          outgoing.sessionTimer.stop();
          tell(() => dialog.emit('ended', end), options.context.logger);
        },
        onOver: () => this.#dialogs.delete(core.id),
      },
    });
    const outgoing = new DialogOutgoing(core);
    const incoming = new DialogIncoming(core, outgoing);
    const dialog = new Dialog(core, outgoing);
    const open = { dialog, core, incoming, outgoing };
    this.#dialogs.set(core.id, open);
    return open;
  }

  stop(): void {
    for (const { core } of this.#dialogs.values()) {
      core.end({ cause: 'stopped', message: null });
      core.hooks.onOver();
    }
  }
}

/** These come from timers and lost connections too, where a fault in a listener would end the process. */
function tell(emit: () => void, logger: Logger): void {
  try {
    emit();
  } catch (error) {
    logger.error({ error }, 'SIP dialog event could not be handled');
  }
}

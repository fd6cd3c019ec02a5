/** Contract of the journal of open SIP dialogs, by which a later process ends the calls of this one. */
import type { CallPrice } from './call-cost.ts';

/** Where messages come from or go to. */
export interface OpenPeer {
  /** Transport as Via names it. */
  readonly protocol: string;
  readonly address: string;
  readonly port: number;
}

/** INVITE transaction without a final response, as far as CANCEL, or a refusal, needs it. */
export interface OpenInvite {
  /** `out`: an outgoing call, ended by CANCEL; `in`: an incoming call, ended by a refusal. */
  readonly direction: 'out' | 'in';
  /** SIP server of the transaction, as reports name it. */
  readonly server: string;
  /** Name that the server gave to the transaction. */
  readonly transactionId: string;
  /** Start line and headers on the wire. */
  readonly head: string;
  /** Destination, or source. */
  readonly peer: OpenPeer;
}

/** One SIP dialog as far as a BYE needs it. @see RFC 3261 section 12.2.1.1 */
export interface OpenDialog {
  /** Call-ID and local tag, which identify the dialog on our side. */
  readonly id: string;
  readonly sipCallId: string;
  /** Our side as a From header: `<sip:+390612345678@192.0.2.1>;tag=a1`. */
  readonly localParty: string;
  /** The far end as a To header, with its tag. */
  readonly remoteParty: string;
  /** URI of the far end's Contact: where requests go. */
  readonly remoteTarget: string;
  /**
   * Where the far end, or the proxy in front of it, can be reached by the address that its messages came from. Null where
   * nothing can be sent there, as to a browser, and in rows of a version that did not keep it.
   */
  readonly peer: OpenPeer | null;
  /** Values of Route, in the order that our requests have them. */
  readonly routes: readonly string[];
  /** Number of the last request of ours that is known; any greater one will do. */
  readonly sequence: number;
  /** Names of the call's two legs at a media server; empty where none is in between. */
  readonly channels: readonly string[];
  readonly openedAt: Date;
  /** Carrier's price of the call; null where it is unknown, and before the answer of an outgoing call. */
  readonly price: CallPrice | null;
  /** Null from the answer on. Before it, an outgoing call has no remote tag, target or routes. */
  readonly invite: OpenInvite | null;
}

/** Every method is one transaction, and throws `StoreError` when disk or file fail. */
export interface DialogStore {
  /** Keeps a dialog; one with the same id is replaced. */
  save(dialog: OpenDialog): Promise<void>;

  /** Forgets a dialog; one that is not kept is no error. */
  remove(id: string): Promise<void>;

  /** All that are kept, oldest first, 100,000 at most. */
  all(): Promise<readonly OpenDialog[]>;
}

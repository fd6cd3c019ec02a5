/** The port to calls from browsers: who may call which agent, and over which connection. */
import type { MessageSocket } from '../../lib/process/message-socket.ts';
import type { Scope } from '../agent/agent.ts';

/** Host of the addresses that browsers call; nobody can look it up, and nobody needs to. RFC 6761. */
export const BROWSER_DOMAIN = 'offhook.invalid';

/** What the one who calls from a browser is called in a call's record. */
export const BROWSER_CALLER = 'browser';

/** Header of the answer by which a page knows its own call: two may call the same agent at one time. */
export const CALL_ID_HEADER = 'X-Service-Call';

/** Connections of browsers at once, and so calls: each costs as much as ten from the telephone network. */
export const BROWSER_CALLS_MAX = 10;

/** A ticket is good for one connection, so long after it was made. */
export const PHONE_TICKET_LIFE_MS = 60_000;

/** Who may ring, and whom. */
export interface BrowserCaller {
  readonly scope: Scope;
  readonly agentId: string;
}

/** One browser's connection: one call at a time. */
export interface BrowserLine {
  /** Ends its call, with BYE. Resolves when the browser has agreed; at once where there is none. */
  hangUp(): Promise<void>;
}

export interface BrowserPhone {
  /** Takes a connection in; it is over when it closes, with its call. */
  connect(socket: MessageSocket, caller: BrowserCaller): BrowserLine;
}

/** Who is shown every message of an engine, as it comes and goes. */
import type { SipMessage } from '../message/message.ts';
import type { Flow } from '../transport/flow.ts';

/** Told at every message, so it must be quick and must not throw. One may look on at several engines. */
export interface MessageTrace {
  /** A message was read, and nothing was done with it yet. Whoever keeps it keeps a copy: it may change from now on. */
  received(message: SipMessage, flow: Flow): void;

  /** A message has left, repeats among them. The octets never change. */
  sent(bytes: Buffer, flow: Flow): void;
}

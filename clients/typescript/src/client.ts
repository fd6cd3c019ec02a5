/** The client. */
import { Resources } from './generated/resources.ts';
import type { OffhookOptions } from './request-options.ts';
import { Transport } from './transport.ts';

/** A client of one server, with one API key. It holds no connection of its own and needs no closing. */
export class Offhook extends Resources {
  /** @throws {TypeError} when the key or the address is none. */
  constructor(options: OffhookOptions) {
    super(new Transport(options));
  }
}

/** Responses on sockets for which Node has no response object. */

import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../lib/clock.ts';
import type { Refusal } from './refusals.ts';

/** Time limit for the client to close its side, in milliseconds. */
const LINGER_MS = 2000;

export function answerRaw(socket: Duplex, clock: Clock, { status, headers, body }: Refusal): void {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  socket.write(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`);
  hangUp(socket, clock);
}

/** Ends the connection once everything is sent; what still comes is dropped, because a reset could take the response away. */
function hangUp(socket: Duplex, clock: Clock): void {
  socket.end();
  socket.resume();
  const cancel = clock.after(LINGER_MS, () => socket.destroy());
  socket.once('close', cancel);
}

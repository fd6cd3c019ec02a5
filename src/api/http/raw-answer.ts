/** Answers where Node has no response to answer with, and hangs up. */
import type { Duplex } from 'node:stream';
import type { Clock } from '../../lib/clock.ts';
import { STATUS_CODES } from '../../lib/node-http.ts';
import type { ApiAnswer } from './api-answer.ts';

/** How long the other side may take to hang up in turn: else it would keep the connection for ever. */
const LINGER_MS = 2000;

/** @param answer whose body is a text. */
export function answerRaw(
  socket: Duplex,
  clock: Clock,
  { status, headers, body }: ApiAnswer,
): void {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`];
  for (let index = 0; index < headers.length; index += 2) {
    lines.push(`${headers[index]}: ${headers[index + 1]}`);
  }
  socket.write(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`);
  hangUp(socket, clock);
}

/** Ends the connection once everything is sent. What still comes is forgotten: to refuse it could take away the answer. */
export function hangUp(socket: Duplex, clock: Clock): void {
  socket.end();
  socket.resume();
  const cancel = clock.after(LINGER_MS, () => socket.destroy());
  socket.once('close', cancel);
}

/** Answers where Node has no response to answer with, and hangs up. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '../lib/clock.ts';

/** How long the other side may take to hang up in turn: else it would keep the connection for ever. */
const LINGER_MS = 2000;

export function answerRaw(socket: Duplex, clock: Clock, response: Response): void {
  void response.text().then((body) => {
    const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`);
    const reason = STATUS_CODES[response.status] ?? '';
    const head = [`HTTP/1.1 ${response.status} ${reason}`, ...headers, 'connection: close'];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
    socket.resume();
    const cancel = clock.after(LINGER_MS, () => socket.destroy());
    socket.once('close', cancel);
  });
}

/** A drachtio server as far as its log-in: what it is asked to send is refused, and told to the test. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

export class LogInServer {
  readonly sockets: Socket[] = [];
  /** Where it takes SIP, its version, and where it listens, as drachtio-server says it. */
  facts = 'udp/192.0.2.1:5060,tcp/192.0.2.1:5060|v0.8.30';
  /** False for one that takes connections and says nothing. */
  doesAnswer = true;
  /** Commands of clients that are logged in. */
  heard = '';
  /** When what it is asked to send is refused. */
  mayRefuse: Promise<void> = Promise.resolve();
  /** Answers a command to send something, and what it says in the same packet; refuses it as in no dialog by default. */
  onSend: (command: string) => string | readonly [answer: string, ...more: string[]] | undefined =
    () => undefined;
  readonly #server: Server = createServer((socket) => this.#welcome(socket));

  async start(port = 0): Promise<number> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  stop(): void {
    for (const socket of this.sockets) socket.destroy();
    this.#server.close();
  }

  #welcome(socket: Socket): void {
    this.sockets.push(socket);
    const answer = (id: string, text: string, ...more: string[]) => {
      const messages = [`1|response|${id}|${text}`, ...more];
      socket.write(messages.map((message) => `${message.length}#${message}`).join(''));
    };
    let unread = '';
    socket.on('data', (data) => {
      if (!this.doesAnswer) return;
      unread += data.toString();
      this.heard += data.toString();
      for (let frame = /^(\d+)#/.exec(unread); frame !== null; frame = /^(\d+)#/.exec(unread)) {
        const [head, length] = frame;
        const command = unread.slice(head.length, head.length + Number(length));
        unread = unread.slice(head.length + Number(length));
        this.#handle(command, answer);
      }
    });
  }

  #handle(command: string, answer: (id: string, ...texts: [string, ...string[]]) => void): void {
    const [id = '', verb, secret] = command.split('|');
    if (verb === 'authenticate') answer(id, secret === 'right' ? `OK|${this.facts}` : 'NOK');
    if (verb !== 'sip') return;
    const reply = this.onSend(command) ?? 'NOK|unable to find dialog';
    const [text, ...more] = typeof reply === 'string' ? [reply] : reply;
    void this.mayRefuse.then(() => answer(id, text ?? '', ...more));
  }
}

/** An SMPP server of another maker (npm `smpp`): keeps what was submitted, and answers as the test says. */
import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { AddressInfo, Server, Socket } from 'node:net';
import { onTestFinished } from 'vitest';

interface ServerPdu {
  readonly command: string;
  readonly sequence_number: number;
  readonly system_id?: string;
  readonly password?: string;
  response(fields?: object): ServerPdu;
}

/** What was submitted, as the library reads it. */
export interface Submitted extends ServerPdu {
  readonly source_addr: string;
  readonly source_addr_ton: number;
  readonly destination_addr: string;
  readonly dest_addr_ton: number;
  readonly data_coding: number;
  readonly registered_delivery: number;
  readonly short_message: { readonly message: string };
  readonly message_payload?: { readonly message: string };
}

interface ServerSession {
  readonly socket: Socket;
  on(event: 'bind_transceiver' | 'enquire_link' | 'unbind', take: (pdu: ServerPdu) => void): void;
  on(event: 'submit_sm', take: (pdu: Submitted) => void): void;
  on(event: 'error', take: (error: Error) => void): void;
  send(pdu: ServerPdu): void;
  deliver_sm(fields: object, answered?: (pdu: { readonly command_status: number }) => void): void;
  destroy(): void;
}

interface Library {
  createServer(listener: (session: ServerSession) => void): Server;
}

const library = createRequire(import.meta.url)('smpp') as Library;

export const SYSTEM_ID = 'offhook';

export const PASSWORD = 'shop-pw';

/** The status of a wrong password. @see SMPP 3.4, 5.1.3 */
const BAD_PASSWORD = 0x0e;

/** Answers one submission; leaving it without an answer hangs it. */
export type OnSubmit = (pdu: Submitted, session: ServerSession) => void;

/** Takes a submission, and names it. */
export const takes =
  (messageId: string): OnSubmit =>
  (pdu, session) =>
    session.send(pdu.response({ message_id: messageId }));

export class SmppServer {
  readonly submitted: Submitted[] = [];
  readonly port: number;
  readonly sessions: ServerSession[];

  constructor(port: number, sessions: ServerSession[]) {
    this.port = port;
    this.sessions = sessions;
  }

  /** Opens one on a free port; it closes with the test. */
  static async open(onSubmit: OnSubmit): Promise<SmppServer> {
    const sessions: ServerSession[] = [];
    const server = library.createServer((session) => {
      session.on('error', () => session.destroy());
      session.on('bind_transceiver', (pdu) => {
        const isRight = pdu.system_id === SYSTEM_ID && pdu.password === PASSWORD;
        session.send(pdu.response(isRight ? {} : { command_status: BAD_PASSWORD }));
        if (isRight) sessions.push(session);
      });
      session.on('enquire_link', (pdu) => session.send(pdu.response()));
      session.on('unbind', (pdu) => session.send(pdu.response()));
      session.on('submit_sm', (pdu) => {
        opened.submitted.push(pdu);
        onSubmit(pdu, session);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const opened = new SmppServer((server.address() as AddressInfo).port, sessions);
    onTestFinished(() => {
      for (const session of sessions) session.destroy();
      server.close();
    });
    return opened;
  }

  /** Delivers over the newest session. @returns the status of the answer. */
  deliver(fields: object): Promise<number> {
    const session = this.sessions.at(-1);
    if (session === undefined) throw new Error('No session is bound');
    return new Promise((resolve) => {
      session.deliver_sm(fields, ({ command_status }) => resolve(command_status));
    });
  }

  /** A delivery report, as servers write them. */
  report(messageId: string, stat: string, err = '000'): Promise<number> {
    const times = 'submit date:2611200900 done date:2611200901';
    const text = `id:${messageId} sub:001 dlvrd:001 ${times} stat:${stat} err:${err} text:Hello`;
    return this.deliver({ esm_class: 4, source_addr: '393331234567', short_message: text });
  }
}

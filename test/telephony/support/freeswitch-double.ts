/** A stand-in for FreeSWITCH: its event socket, its SIP, and the connection it makes for each leg. It relays no sound. */
import { connect, type Socket } from 'node:net';
import { offer } from '../../../src/rtp/sdp-answer.ts';
import type { Dialog } from '../../../src/sip/dialog/dialog.ts';
import type { ServerInvite } from '../../../src/sip/server-invite.ts';
import { UserAgent } from '../../../src/sip/user-agent.ts';
import { EventSocketServer } from './event-socket-server.ts';

/** What its BYE says when a leg's port turns out to be taken. */
const PORT_TAKEN = 'Q.850;cause=88;text="INCOMPATIBLE_DESTINATION"';

const PROFILES = ['offhook_outer', 'offhook_inner'];

interface Leg {
  readonly uuid: string;
  readonly dialog: Dialog;
  readonly socket: Socket;
}

export class FreeSwitchDouble {
  readonly events = new EventSocketServer({ sofiaStatus: () => this.#sofiaStatus() });
  /** Descriptions that re-INVITEs brought, oldest first. */
  readonly modified: string[] = [];
  /** What re-INVITEs are answered with, one after the other; 200 when it is empty. */
  readonly refusals: number[] = [];
  /** Whether legs are bridged; else the command is left without answer. */
  doesBridge = true;
  /** What it says to a command to bridge; `+OK` and the leg unless said otherwise. */
  bridgeReply: string | undefined;
  /** Status of INVITEs that no extension of its dialplan takes; 0 leaves them without an answer. */
  probeStatus = 404;
  /** Status of INVITEs; a provisional one is the last that is heard of them. */
  inviteStatus = 200;
  /** How many legs it still answers and ends at once, as FreeSWITCH does when the leg's port turns out to be taken. */
  endingAtOnce = 0;
  /** How many legs it still answers and never connects back for. */
  forgetting = 0;
  /** INVITEs that came. */
  invites = 0;
  readonly #agent = new UserAgent({ listen: [{ protocol: 'UDP', address: '127.0.0.1', port: 0 }] });
  readonly #legs = new Map<string, Leg>();
  #made = 0;

  async start(): Promise<void> {
    this.#agent.on('invite', (invite) => this.#take(invite));
    await this.#agent.start();
    await this.events.start();
  }

  /** Names of the legs that there are. */
  get legs(): readonly string[] {
    return [...this.#legs.keys()];
  }

  /** Dies as a process does: all its connections are cut, without a SIP message. */
  async die(): Promise<void> {
    for (const { socket } of this.#legs.values()) socket.destroy();
    this.#legs.clear();
    await this.events.stop();
  }

  async stop(): Promise<void> {
    await this.die();
    await this.#agent.stop();
  }

  #sofiaStatus(): string {
    const [address] = this.#agent.addresses;
    const uri = `sip:mod_sofia@127.0.0.1:${address?.port}`;
    return PROFILES.map((name) => ` ${name}\tprofile\t${uri}\tRUNNING (0)\n`).join('');
  }

  #take(invite: ServerInvite): void {
    if (!invite.request.get('user-agent')?.startsWith('drachtio-fsmrf:')) {
      if (this.probeStatus > 0) invite.reject(this.probeStatus);
      return;
    }
    this.invites += 1;
    if (this.inviteStatus < 200) {
      invite.progress(180);
      return;
    }
    if (this.inviteStatus !== 200) {
      invite.reject(this.inviteStatus);
      return;
    }
    this.#made += 1;
    const uuid = `leg-${this.#made}`;
    const port = 40_000 + 2 * this.#made;
    const body = offer({ address: '127.0.0.1', port, sessionId: 1, version: 1 });
    const { dialog } = invite.accept({ body });
    if (this.forgetting > 0) {
      this.forgetting -= 1;
      return;
    }
    if (this.endingAtOnce > 0) {
      this.endingAtOnce -= 1;
      void dialog.bye({ headers: { reason: PORT_TAKEN } });
      return;
    }
    dialog.on('reinvite', (request) => {
      const refusal = this.refusals.shift();
      this.modified.push(request.request.body.toString());
      if (refusal === undefined) request.respond(200, { body });
      else request.respond(refusal);
    });
    dialog.on('ended', () => this.#legs.get(uuid)?.socket.destroy());
    const [host, back] = (invite.request.get('x-esl-outbound') ?? '').split(':');
    const socket = connect({ host: host ?? '', port: Number(back) });
    this.#legs.set(uuid, { uuid, dialog, socket });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#legs.delete(uuid));
    let unread = '';
    socket.on('data', (chunk) => {
      unread += chunk.toString();
      const commands = unread.split('\n\n');
      unread = commands.pop() ?? '';
      for (const command of commands) this.#converse(uuid, command, invite);
    });
  }

  /** The connection of one leg: a command of drachtio-fsmrf's. */
  #converse(uuid: string, command: string, invite: ServerInvite): void {
    const leg = this.#legs.get(uuid);
    if (command === 'connect') leg?.socket.write(channelData(uuid, invite));
    else if (leg !== undefined && command.startsWith('api uuid_bridge')) this.#bridge(leg);
    else {
      leg?.socket.write('Content-Type: command/reply\nReply-Text: +OK\n\n');
      if (command.includes('execute-app-name: hangup')) void leg?.dialog.bye();
    }
  }

  #bridge({ socket, uuid }: Leg): void {
    if (!this.doesBridge) return;
    const body = `${this.bridgeReply ?? `+OK ${uuid}`}\n`;
    socket.write(`Content-Type: api/response\nContent-Length: ${body.length}\n\n${body}`);
  }
}

/** What FreeSWITCH tells of a channel when it connects. */
function channelData(uuid: string, invite: ServerInvite): string {
  const lines = [
    'Event-Name: CHANNEL_DATA',
    `Unique-ID: ${uuid}`,
    `Channel-Unique-ID: ${uuid}`,
    `variable_sip_user_agent: ${encodeURIComponent(invite.request.get('user-agent') ?? '')}`,
    'Content-Type: command/reply',
    'Reply-Text: +OK',
    'Socket-Mode: async',
  ];
  return `${lines.join('\n')}\n\n`;
}

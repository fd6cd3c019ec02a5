/** Connection to one FreeSWITCH: its event socket and its two SIP profiles, health checks and reconnects. */

import { setMaxListeners } from 'node:events';
import { type Clock, within } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { messageOf } from '../../lib/unknown-value.ts';
import type { CarrierReport } from '../carrier.ts';
import { placeOf, type ServerAddress } from '../trunks/server-list.ts';
import { EventSocket } from './event-socket.ts';
import { type TracedPacket, tracedPacketIn } from './far-end-source.ts';
import { connectProfile, type FsmrfServer } from './fsmrf.ts';
import { probeSip, type SipClient } from './sip-probe.ts';

/** Names of the two profiles in sip-config/freeswitch/freeswitch.xml. */
const OUTER = 'offhook_outer';
const INNER = 'offhook_inner';

const CONNECT_MS_MAX = 3_000;

/** Time limit of the start: the server may come later. */
const START_MS_MAX = 1_500;

const RETRY_MS_MIN = 250;
const RETRY_MS_MAX = 5_000;

/** A server that hangs is found out at the latest after this and the time that a command may take. */
const CHECK_MS = 5_000;

/** The server is up, but takes no calls yet. */
class NotReadyError extends Error {
  override readonly name = 'NotReadyError';

  constructor() {
    super('it takes no calls yet');
  }
}

export interface FreeSwitchServerOptions {
  readonly address: ServerAddress;
  readonly secret: string;
  /** drachtio-srf's client that SIP to the servers goes through. */
  readonly srf: SipClient;
  readonly clock: Clock;
  readonly log: Logger;
  /** Legs that a process before this one has left. */
  readonly orphanChannels?: readonly string[];
}

/** Connections of a healthy server. */
export interface FreeSwitchConnection {
  readonly outer: FsmrfServer;
  readonly inner: FsmrfServer;
  readonly socket: EventSocket;
  /** SIP URIs of the two profiles. */
  readonly uris: readonly string[];
  /** Aborted when the connection is lost, with the reason; pending requests get no answer then. */
  readonly lost: AbortSignal;
}

/** One FreeSWITCH: connects, checks its health, and reconnects after a loss. */
export class FreeSwitchServer {
  readonly #options: FreeSwitchServerOptions;
  #connection: FreeSwitchConnection | undefined;
  #end = new AbortController();
  #orphans: readonly string[];
  #problem = 'not started';
  /**
   * Reason why SIP does not reach the server although its event socket answers; undefined while it does, or before
   * the first check.
   */
  #sipProblem: string | undefined;
  #hasSip = false;
  #isRunning = false;
  #retryMs = RETRY_MS_MIN;
  /** Packet listeners by the UUID of the leg. */
  readonly #watchers = new Map<string, (packet: TracedPacket) => void>();
  #cancelTimer: () => void = () => undefined;

  constructor(options: FreeSwitchServerOptions) {
    this.#options = options;
    this.#orphans = options.orphanChannels ?? [];
    // Another SIP server, or another address of it, may be connected.
    options.srf.on('connect', (error) => {
      this.#hasSip = false;
      if (!error && this.#connection !== undefined) void this.#trySip(this.#connection);
    });
  }

  /** Connection for calls; undefined while the server is not well. */
  get connection(): FreeSwitchConnection | undefined {
    return this.#sipProblem === undefined ? this.#connection : undefined;
  }

  /** Resolves when the first attempt has succeeded or failed, after 1.5 s at the latest; then keeps trying. */
  async start(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#problem = `connecting to FreeSWITCH at ${this.#place}`;
    const { clock, log } = this.#options;
    await within(clock, START_MS_MAX, this.#connect()).catch(() => {
      log.warn({ problem: this.#problem }, 'FreeSWITCH has not answered yet');
    });
  }

  /** Safe to call twice. */
  stop(): void {
    this.#isRunning = false;
    this.#cancelTimer();
    this.#drop('it is not used any more');
    this.#problem = 'stopped';
  }

  report(): CarrierReport {
    const isReady = this.connection !== undefined;
    const problem = this.#connection === undefined ? this.#problem : this.#sipProblem;
    const state = problem ?? `media goes through ${this.#place}`;
    return { name: `freeswitch ${this.#place}`, isReady, state };
  }

  /** Ends a leg. Never rejects: an unreachable server ends it by its own timers. */
  async kill(uuid: string): Promise<void> {
    try {
      await this.#connection?.socket.api(`uuid_kill ${uuid}`);
    } catch (error) {
      this.#options.log.debug({ why: messageOf(error) }, 'could not end a leg in FreeSWITCH');
    }
  }

  /** Calls `onPacket` for each packet of a leg while it is traced. @returns removes the listener. */
  watch(uuid: string, onPacket: (packet: TracedPacket) => void): () => void {
    this.#watchers.set(uuid, onPacket);
    return () => this.#watchers.delete(uuid);
  }

  /** Has the packets that reach a leg reported, or no longer. Never rejects: a lost server has no legs. */
  async trace(uuid: string, isOn: boolean): Promise<void> {
    try {
      await this.#connection?.socket.api(`uuid_debug_media ${uuid} read ${isOn ? 'on' : 'off'}`);
    } catch (error) {
      this.#options.log.debug({ why: messageOf(error) }, 'could not trace a leg in FreeSWITCH');
    }
  }

  async #connect(): Promise<void> {
    try {
      const connection = await this.#open();
      this.#hasSip = false;
      await this.#trySip(connection);
      if (!this.#isRunning) return close(connection);
      this.#connection = connection;
      this.#retryMs = RETRY_MS_MIN;
      this.#options.log.info({ server: this.#place }, 'FreeSWITCH is ready');
      this.#checkLater();
      await Promise.all(this.#orphans.map((uuid) => this.kill(uuid)));
      this.#orphans = [];
    } catch (error) {
      // It will be there in a moment.
      if (error instanceof NotReadyError) this.#retryMs = RETRY_MS_MIN;
      this.#retry(messageOf(error));
    }
  }

  async #open(): Promise<FreeSwitchConnection> {
    const { address, secret, srf, clock } = this.#options;
    const { host, port } = address;
    const onLost = (reason: string) => this.#onLost(reason);
    const onLine = (uuid: string, line: string) => this.#onLine(uuid, line);
    const socket = await EventSocket.open({ host, port, secret, clock, onLine, onLost });
    const opened: FsmrfServer[] = [];
    const open = async (profile: string) => {
      const server = await within(
        clock,
        CONNECT_MS_MAX,
        connectProfile(srf, {
          ...{ address: host, port, secret, profile, listenAddress: socket.localAddress },
          onEnd: () => this.#onLost('it closed the connection'),
        }),
      );
      opened.push(server);
      return server;
    };
    try {
      refuseUnready(await socket.api('status'));
      const uris = urisOf([OUTER, INNER], await socket.api('sofia status'));
      const [outer, inner] = [await open(OUTER), await open(INNER)];
      this.#end = new AbortController();
      // Every call that is set up at a time listens.
      setMaxListeners(0, this.#end.signal);
      return { socket, uris, outer, inner, lost: this.#end.signal };
    } catch (error) {
      socket.close();
      for (const server of opened) server.disconnect();
      throw error;
    }
  }

  #onLine(uuid: string, line: string): void {
    const onPacket = this.#watchers.get(uuid);
    const packet = onPacket && tracedPacketIn(line);
    if (packet !== undefined) onPacket?.(packet);
  }

  #checkLater(): void {
    this.#cancelTimer = this.#options.clock.after(CHECK_MS, () => void this.#check());
  }

  async #check(): Promise<void> {
    try {
      await this.#connection?.socket.api('status');
      if (this.#connection !== undefined && !this.#hasSip) await this.#trySip(this.#connection);
      if (this.#connection !== undefined) this.#checkLater();
    } catch (error) {
      this.#onLost(messageOf(error));
    }
  }

  /** Probes SIP to both profiles, until it has worked once. */
  async #trySip({ uris }: FreeSwitchConnection): Promise<void> {
    const { srf, clock, log } = this.#options;
    for (const uri of uris) {
      const result = await probeSip(srf, uri, clock);
      if (result.kind === 'unknown') return;
      if (result.kind === 'open') continue;
      const problem = `no media through ${this.#place}: ${result.problem}`;
      if (problem !== this.#sipProblem) log.warn({ problem }, 'FreeSWITCH takes no SIP from us');
      this.#sipProblem = problem;
      return;
    }
    this.#hasSip = true;
    this.#sipProblem = undefined;
  }

  #onLost(reason: string): void {
    if (this.#connection === undefined) return;
    this.#cancelTimer();
    this.#drop(reason);
    if (this.#isRunning) this.#retry(reason);
  }

  #drop(reason: string): void {
    const connection = this.#connection;
    this.#connection = undefined;
    if (connection === undefined) return;
    close(connection);
    this.#end.abort(new Error(reason));
  }

  #retry(reason: string): void {
    if (!this.#isRunning) return;
    const { clock, log } = this.#options;
    this.#problem = `no media through ${this.#place}: ${reason}`;
    log.warn({ problem: this.#problem, retryMs: this.#retryMs }, 'FreeSWITCH is out of reach');
    this.#cancelTimer = clock.after(this.#retryMs, () => void this.#connect());
    this.#retryMs = Math.min(RETRY_MS_MAX, this.#retryMs * 2);
  }

  get #place(): string {
    return placeOf(this.#options.address);
  }
}

function close({ socket, outer, inner }: FreeSwitchConnection): void {
  for (const server of [outer, inner]) server.disconnect();
  socket.close();
}

/** Its console and its SIP answer while it still loads the rest, without which it refuses calls. */
function refuseUnready(status: string): void {
  if (!/^FreeSWITCH .* is ready/m.test(status)) throw new NotReadyError();
}

/**
 * SIP addresses of the profiles. Checked here, because drachtio-fsmrf throws outside any promise for a missing
 * profile.
 */
function urisOf(profiles: readonly string[], status: string): readonly string[] {
  const uri = 'sip:mod_sofia@(?:\\d{1,3}\\.){3}\\d{1,3}:\\d+';
  return profiles.map((profile) => {
    const [, found] = new RegExp(`^\\s*${profile}\\s.*?(${uri})`, 'm').exec(status) ?? [];
    if (found === undefined) throw new Error(`it has no SIP profile "${profile}"`);
    return found;
  });
}

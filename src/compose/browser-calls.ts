/** Composition root: calls from the dashboard, by a SIP engine of their own and WebRTC in this process. */
import { randomBytes } from 'node:crypto';
import type { Config } from '../config/config.ts';
import type { Agent, AgentStore } from '../domain/agent/agent.ts';
import type { ReadinessCheck } from '../domain/call/engine-state.ts';
import {
  BROWSER_CALLER,
  BROWSER_CALLS_MAX,
  type BrowserCaller,
  type BrowserLine,
  type BrowserPhone,
} from '../domain/call/live-sound.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { MessageSocket } from '../lib/process/message-socket.ts';
import type { Dashboard } from '../operator/dashboard.ts';
import { PhoneSockets } from '../operator/phone-sockets.ts';
import { DrachtioServer } from '../sip/drachtio-server/drachtio-server.ts';
import type { ServerInvite } from '../sip/server-invite.ts';
import type { MessageTrace } from '../sip/trace/call-traces.ts';
import type { Flow } from '../sip/transport/flow.ts';
import { UserAgent } from '../sip/user-agent.ts';
import type { Store } from '../store/store.ts';
import { CarrierError, type IncomingCall } from '../telephony/carrier.ts';
import { DrachtioCarrier } from '../telephony/drachtio/carrier/drachtio-carrier.ts';
import { BrowserCall } from '../telephony/webrtc/browser-call.ts';
import { addressesFor } from '../telephony/webrtc/host-addresses.ts';
import { type SessionOpener, WeriftGateway } from '../telephony/webrtc/werift-gateway.ts';
import type { Telephony } from './telephony.ts';

/** Takes a call; the second argument says which agent it is for. */
type TakeCall = (call: IncomingCall, findAgent: () => Agent | undefined) => void;

interface Options {
  readonly config: Config;
  readonly version: string;
  /** Shown every SIP message; nobody is unless given. */
  readonly traces?: MessageTrace;
  /** The media engine's lines, whoever faces the carriers' RTP. */
  readonly lines: SessionOpener;
  /** Calls whom a caller is handed over to, through the carriers. */
  readonly place: Telephony['place'];
  readonly agents: Pick<AgentStore, 'find'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Opens nothing yet. */
export function openBrowserCalls(from: {
  readonly config: Config;
  readonly version: string;
  readonly telephony: Telephony;
  readonly store: Store;
  readonly log: Logger;
}): BrowserCalls {
  const { telephony, store } = from;
  const { lines, traces } = telephony;
  return new BrowserCalls({
    ...from,
    ...{ lines, traces },
    place: (request) => telephony.place(request),
    agents: store.agents,
    clock: systemClock,
  });
}

/** The WebSockets by which the dashboard's page calls. */
export function browserSockets(
  { config, log }: { readonly config: Config; readonly log: Logger },
  parts: { readonly dashboard: Dashboard; readonly phone: BrowserPhone },
): PhoneSockets {
  const { sessions, tickets } = parts.dashboard;
  const publicUrl = config.PUBLIC_URL.replace(/\/$/, '');
  return new PhoneSockets({ ...parts, sessions, tickets, publicUrl, clock: systemClock, log });
}

/** The same for all four combinations of `TELEPHONY` and `MEDIA`: neither drachtio nor FreeSWITCH is needed for it. */
export class BrowserCalls implements BrowserPhone {
  readonly #options: Options;
  readonly #engine: UserAgent;
  readonly #front: DrachtioServer;
  readonly #media: WeriftGateway;
  readonly #secret = randomBytes(24).toString('hex');
  readonly #lines = new Map<Flow, Line>();
  #carrier: DrachtioCarrier | undefined;

  constructor(options: Options) {
    const { config, version, lines, traces, clock, log } = options;
    this.#options = options;
    // Without addresses of its own: only what comes by a WebSocket that was let in is ever heard.
    const product = `offhook/${version}`;
    this.#engine = new UserAgent({ listen: [], product, trace: traces, clock, logger: log });
    this.#front = new DrachtioServer({
      userAgent: this.#engine,
      secret: this.#secret,
      port: 0,
      clock,
      logger: log,
    });
    this.#media = new WeriftGateway({
      engine: lines,
      ports: config.RTP_PORTS,
      addresses: () => addressesFor(config.HOST, new URL(config.PUBLIC_URL).hostname, clock),
      callsMax: BROWSER_CALLS_MAX,
      clock,
      log,
    });
    // Ahead of the front, so that the line is known when the call comes out at the other end.
    this.#engine.on('invite', (invite) => this.#lines.get(invite.flow)?.rings(invite));
  }

  /** Calls are taken when it resolves. @throws {Error} when no port of this machine's loopback is free. */
  async start(onIncoming: TakeCall): Promise<void> {
    const { clock, log } = this.#options;
    await this.#engine.start();
    await this.#front.start();
    const carrier = new DrachtioCarrier({
      host: '127.0.0.1',
      port: this.#front.port,
      secret: this.#secret,
      trunks: [],
      mayRing: () => true,
      callThrough: (request) => this.#callThrough(request),
      media: this.#media,
      name: 'browser calls',
      clock,
      log,
    });
    this.#carrier = carrier;
    await carrier.start((incoming) => this.#take(incoming, onIncoming));
  }

  connect(socket: MessageSocket, caller: BrowserCaller): BrowserLine {
    const flow = this.#engine.acceptSocket(socket);
    const line = new Line(caller);
    if (!flow.isOpen) return line;
    this.#lines.set(flow, line);
    flow.onClosed(() => {
      this.#lines.delete(flow);
      line.lose();
    });
    return line;
  }

  /** From now on browsers are told to come again later; calls in progress go on. */
  drain(): void {
    this.#engine.drain();
    this.#carrier?.drain();
  }

  /** Ends what is left. Safe to call twice, and after a start that failed. */
  async stop(): Promise<void> {
    await this.#carrier?.stop();
    await this.#front.stop();
    await this.#engine.stop();
    await this.#media.stop();
  }

  /** Never a reason to be not ready: the telephone network is served without it. */
  check(): ReadinessCheck {
    const report = this.#carrier?.listenerReport();
    const isReady = report?.isReady === true && this.#media.problem === undefined;
    const problem = this.#media.problem ?? report?.state ?? 'not started';
    return { name: 'browser calls', isOk: true, state: isReady ? 'ready' : problem };
  }

  /**
   * Calls a second party from the number of the agent that the browser talks to.
   *
   * @throws {CarrierError} 403 in the test environment, which rings nobody; and as every carrier does.
   */
  #callThrough(request: Parameters<Telephony['place']>[0]): ReturnType<Telephony['place']> {
    const line = [...this.#lines.values()].find(({ caller }) => caller.agentId === request.from);
    const { scope, agentId } = line?.caller ?? {};
    if (scope?.environment !== 'live' || agentId === undefined) {
      throw new CarrierError('Cannot place the call: the test environment rings nobody', 403);
    }
    const from = this.#options.agents.find(scope, agentId)?.phoneNumber ?? request.from;
    return this.#options.place({ ...request, from });
  }

  #take(incoming: IncomingCall, onIncoming: TakeCall): void {
    const line = [...this.#lines.values()].find((each) => each.isRungBy(incoming.carrierCallSid));
    if (line === undefined || incoming.to !== line.caller.agentId) {
      // A second call at a time, or another agent than the ticket's.
      incoming.reject(line === undefined ? 486 : 403);
      return;
    }
    const { scope, agentId } = line.caller;
    onIncoming(line.take(incoming), () => this.#options.agents.find(scope, agentId));
  }
}

/** One WebSocket, and its call. */
class Line implements BrowserLine {
  readonly caller: BrowserCaller;
  #invite: ServerInvite | undefined;
  #call: BrowserCall | undefined;

  constructor(caller: BrowserCaller) {
    this.caller = caller;
  }

  /** Notes a call, unless another one is in progress. */
  rings(invite: ServerInvite): void {
    const isBusy = this.#call !== undefined || this.#invite?.state === 'ringing';
    if (!isBusy) this.#invite = invite;
  }

  isRungBy(callId: string): boolean {
    return this.#call === undefined && this.#invite?.request.callId === callId;
  }

  take(incoming: IncomingCall): BrowserCall {
    const call = new BrowserCall({
      incoming,
      from: BROWSER_CALLER,
      to: this.caller.agentId,
      onOver: () => {
        this.#call = undefined;
        this.#invite = undefined;
      },
    });
    this.#call = call;
    return call;
  }

  async hangUp(): Promise<void> {
    await this.#call?.hangUp();
  }

  lose(): void {
    this.#call?.disconnected();
  }
}

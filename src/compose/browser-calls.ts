/** Composition root: calls from the dashboard, through a second SIP engine and WebRTC in this process. */
import { randomBytes } from 'node:crypto';
import type { Config } from '../config/config.ts';
import type { Agent, AgentStore } from '../domain/agent/agent.ts';
import { agentOnTrial, type SavedDraftStore } from '../domain/agent/agent-version.ts';
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
import { PhoneSockets } from '../operator/phone-sockets.ts';
import type { MessageTrace } from '../sip/call-traces.ts';
import { DrachtioServer } from '../sip/drachtio-server/drachtio-server.ts';
import type { ServerInvite } from '../sip/server-invite.ts';
import type { Flow } from '../sip/transport/flow.ts';
import { UserAgent } from '../sip/user-agent.ts';
import { CarrierError, type IncomingCall } from '../telephony/carrier.ts';
import { DrachtioCarrier } from '../telephony/drachtio/carrier/drachtio-carrier.ts';
import type { SessionOpener } from '../telephony/media-gateway.ts';
import { BrowserCall } from '../telephony/webrtc/browser-call.ts';
import { addressesFor } from '../telephony/webrtc/browser-sdp.ts';
import { WeriftGateway } from '../telephony/webrtc/werift-gateway.ts';
import type { AppParts, ControlPlaneParts } from './app-parts.ts';
import type { Telephony } from './telephony.ts';

/** Takes a call; the second argument finds its agent. */
type TakeCall = (call: IncomingCall, findAgent: () => Promise<Agent | undefined>) => void;

interface Options {
  readonly config: Config;
  readonly version: string;
  /** Receives every SIP message. */
  readonly traces?: MessageTrace;
  /** Opens RTP sessions of the media engine. */
  readonly lines: SessionOpener;
  /** Places the call to a transfer's third party, through the carriers. */
  readonly place: Telephony['place'];
  /** Hold music for callers while a third party is called. */
  readonly holdMusic: Int16Array | undefined;
  readonly agents: Pick<AgentStore, 'find'>;
  readonly agentDrafts: Pick<SavedDraftStore, 'find'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Makes the browser calls; nothing is opened. */
export function openBrowserCalls(
  from: Pick<AppParts, 'config' | 'version' | 'telephony' | 'store' | 'log'>,
): BrowserCalls {
  const { telephony, store } = from;
  const { holdMusic, lines, traces } = telephony;
  return new BrowserCalls({
    ...from,
    ...{ holdMusic, lines, traces },
    place: (request) => telephony.place(request),
    agents: store.agents,
    agentDrafts: store.agentDrafts,
    clock: systemClock,
  });
}

/** The WebSockets of the dashboard's telephone. */
export function browserSockets(
  { config, dashboard, log }: Pick<ControlPlaneParts, 'config' | 'dashboard' | 'log'>,
  phone: BrowserPhone,
): PhoneSockets {
  const { sessions, tickets } = dashboard;
  const publicUrl = config.PUBLIC_URL.replace(/\/$/, '');
  return new PhoneSockets({ phone, sessions, tickets, publicUrl, clock: systemClock, log });
}

/** Works with all four combinations of `TELEPHONY` and `MEDIA`; needs neither a drachtio-server nor FreeSWITCH. */
export class BrowserCalls implements BrowserPhone {
  readonly #options: Options;
  readonly #engine: UserAgent;
  readonly #drachtio: DrachtioServer;
  readonly #media: WeriftGateway;
  readonly #secret = randomBytes(24).toString('hex');
  readonly #lines = new Map<Flow, Line>();
  #carrier: DrachtioCarrier | undefined;

  constructor(options: Options) {
    const { config, version, lines, traces, clock, log } = options;
    this.#options = options;
    // No listening socket: messages come only through authenticated WebSockets.
    const product = `offhook/${version}`;
    this.#engine = new UserAgent({ listen: [], product, trace: traces, clock, logger: log });
    this.#drachtio = new DrachtioServer({
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
    // Registered before the drachtio server's listener, so that the line is known when the carrier reports the call.
    this.#engine.on('invite', (invite) => this.#lines.get(invite.flow)?.rings(invite));
  }

  /** Calls are taken when it resolves. @throws {Error} when no port of this machine's loopback is free. */
  async start(onIncoming: TakeCall): Promise<void> {
    const { holdMusic, clock, log } = this.#options;
    await this.#engine.start();
    await this.#drachtio.start();
    const carrier = new DrachtioCarrier({
      host: '127.0.0.1',
      port: this.#drachtio.port,
      secret: this.#secret,
      trunks: [],
      mayRing: () => true,
      callThrough: (request) => this.#callThrough(request),
      media: this.#media,
      name: 'browser calls',
      holdMusic,
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

  /** Refuses new calls from now on; calls in progress continue. */
  drain(): void {
    this.#engine.drain();
    this.#carrier?.drain();
  }

  /** Ends the remaining calls. Safe to call twice, and after a failed start. */
  async stop(): Promise<void> {
    await this.#carrier?.stop();
    await this.#drachtio.stop();
    await this.#engine.stop();
    await this.#media.stop();
  }

  /** Check for `/readyz`; always ok, because calls of the telephone network do not need browser calls. */
  check(): ReadinessCheck {
    const report = this.#carrier?.listenerReport();
    const isReady = report?.isReady === true && this.#media.problem === undefined;
    const problem = this.#media.problem ?? report?.state ?? 'not started';
    return { name: 'browser calls', isOk: true, state: isReady ? 'ready' : problem };
  }

  /**
   * Places a call to a transfer's third party, from the number of the browser's agent.
   *
   * @throws {CarrierError} 403 in the test environment, which places no real calls; and as every carrier does.
   */
  #callThrough(request: Parameters<Telephony['place']>[0]): ReturnType<Telephony['place']> {
    const line = [...this.#lines.values()].find(({ caller }) => caller.agentId === request.from);
    if (line?.caller.scope.environment !== 'live') {
      throw new CarrierError(
        'Cannot place the call: the test environment places no real calls',
        403,
      );
    }
    return this.#options.place({ ...request, from: line.agentNumber ?? request.from });
  }

  #take(incoming: IncomingCall, onIncoming: TakeCall): void {
    const line = [...this.#lines.values()].find((each) => each.isRungBy(incoming.carrierCallSid));
    if (line === undefined || incoming.to !== line.caller.agentId) {
      // A second concurrent call, or an agent that differs from the ticket's.
      incoming.reject(line === undefined ? 486 : 403);
      return;
    }
    onIncoming(line.take(incoming), async () => {
      const agent = await this.#agentFor(line.caller);
      line.agentNumber = agent?.phoneNumber ?? null;
      return agent;
    });
  }

  /** Undefined also where the draft that is to be tried is gone: the live agent is another one. */
  async #agentFor({ scope, agentId, isDraft }: BrowserCaller): Promise<Agent | undefined> {
    const { agents, agentDrafts, clock } = this.#options;
    const agent = await agents.find(scope, agentId);
    if (agent === undefined || !isDraft) return agent;
    const draft = await agentDrafts.find(scope, agentId);
    return draft === undefined ? undefined : agentOnTrial(agent, draft, clock.now());
  }
}

/** One WebSocket and its call. */
class Line implements BrowserLine {
  readonly caller: BrowserCaller;
  /** Number of the answering agent, from which third parties are called. */
  agentNumber: string | null = null;
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

/** Several speech servers that do the same work: probes, health, the least busy one for each request, and the report on them. */
import { type Clock, TimeLimit, waitAtMost } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { messageOf } from '../../lib/unknown-value.ts';
import type { EngineReport } from '../hearing/hearing.ts';

/** One server on the network. */
export interface SpeechServer {
  /** In messages and metrics, such as `http://10.0.0.5:8000`. */
  readonly address: string;

  /**
   * Does a small piece of real work: a server may hang at its work and still answer to its health check.
   *
   * @throws {Error} naming the fault.
   */
  probe(signal: AbortSignal): Promise<void>;
}

export interface ServerState {
  readonly address: string;
  readonly isUp: boolean;
  /** The newest fault; empty while it is up. */
  readonly fault: string;
}

/** Callbacks for changes of servers and for their requests. */
interface ServerEvents {
  /** Called after each change of a state. */
  readonly onStates?: (states: readonly ServerState[]) => void;
  /** @param tookMs null for a request that failed. */
  readonly onRequest?: (address: string, tookMs: number | null) => void;
}

/** A request's use of a server. The first call of any of the three methods ends it; later calls do nothing. */
export interface ServerLease<Server> {
  readonly server: Server;
  answered(tookMs: number): void;
  /** Takes the server out until a probe succeeds. */
  failed(fault: string): void;
  /** The request was cancelled. */
  dropped(): void;
}

/** Time limit of a probe: the first one may load a model. */
const PROBE_MS_MAX = 30_000;

/** Pause between probes of an idle server that works. */
const IDLE_PROBE_MS = 30_000;

/** Pauses between probes of a server that has failed. */
const RETRY_MS_MIN = 1000;
const RETRY_MS_MAX = 60_000;

/** A start does not wait longer for the first probes. */
const START_MS_MAX = 5000;

interface SpeechServersOptions<Server> extends ServerEvents {
  readonly servers: readonly Server[];
  readonly clock: Clock;
}

interface Watched<Server> {
  readonly server: Server;
  isUp: boolean;
  fault: string;
  /** Requests in progress. */
  load: number;
  /** Number of the newest request, for taking turns. */
  turn: number;
  /** Faults since the last request that was answered. */
  faults: number;
  lastUseAtMs: number;
  cancelProbe: () => void;
}

export class SpeechServers<Server extends SpeechServer> {
  readonly #watched: readonly Watched<Server>[];
  readonly #clock: Clock;
  readonly #onStates: (states: readonly ServerState[]) => void;
  readonly #onRequest: (address: string, tookMs: number | null) => void;
  readonly #end = new AbortController();
  #turn = 0;

  constructor({ servers, clock, onStates, onRequest }: SpeechServersOptions<Server>) {
    this.#clock = clock;
    this.#onStates = onStates ?? (() => undefined);
    this.#onRequest = onRequest ?? (() => undefined);
    this.#watched = servers.map((server) => ({
      server,
      isUp: false,
      fault: 'not probed yet',
      load: 0,
      turn: 0,
      faults: 0,
      lastUseAtMs: 0,
      cancelProbe: () => undefined,
    }));
  }

  /** Probes all servers; resolves when each has answered or failed, after 5 s at the latest. */
  async start(): Promise<void> {
    const probes = Promise.all(this.#watched.map((watched) => this.#probe(watched)));
    await waitAtMost(this.#clock, START_MS_MAX, probes);
  }

  /** Safe to call twice. */
  stop(): void {
    this.#end.abort(new Error('stopped'));
    for (const { cancelProbe } of this.#watched) cancelProbe();
  }

  states(): readonly ServerState[] {
    return this.#watched.map(({ server, isUp, fault }) => ({
      address: server.address,
      isUp,
      fault,
    }));
  }

  get servers(): readonly Server[] {
    return this.#watched.map(({ server }) => server);
  }

  /** Servers that work. */
  get working(): readonly Server[] {
    return this.#watched.filter(({ isUp }) => isUp).map(({ server }) => server);
  }

  /**
   * Lends the working server with the fewest requests in progress; of equals, the one unused for longest.
   *
   * @param except servers that this request has tried.
   * @param loadMax servers with more requests in progress are left out.
   * @returns null when there is none.
   */
  lend(
    except: ReadonlySet<Server> = new Set(),
    loadMax = Number.POSITIVE_INFINITY,
  ): ServerLease<Server> | null {
    const [best] = this.#watched
      .filter(({ isUp, server, load }) => isUp && !except.has(server) && load <= loadMax)
      .sort((a, b) => a.load - b.load || a.turn - b.turn);
    if (best === undefined) return null;
    this.#turn += 1;
    best.turn = this.#turn;
    best.load += 1;
    return this.#lease(best);
  }

  #lease(watched: Watched<Server>): ServerLease<Server> {
    const { server } = watched;
    let isOver = false;
    const end = (then: () => void) => {
      if (isOver) return;
      isOver = true;
      watched.load -= 1;
      then();
    };
    return {
      server,
      answered: (tookMs) =>
        end(() => {
          watched.faults = 0;
          watched.lastUseAtMs = this.#clock.nowMs();
          this.#onRequest(server.address, tookMs);
        }),
      failed: (fault) =>
        end(() => {
          this.#onRequest(server.address, null);
          this.#down(watched, fault);
        }),
      dropped: () => end(() => undefined),
    };
  }

  async #probe(watched: Watched<Server>): Promise<void> {
    watched.cancelProbe();
    const reason = `no answer within ${PROBE_MS_MAX / 1000} s`;
    using limit = new TimeLimit(this.#clock, PROBE_MS_MAX, { signal: this.#end.signal, reason });
    const { signal } = limit;
    try {
      await watched.server.probe(signal);
      this.#up(watched);
    } catch (error) {
      this.#down(watched, messageOf(signal.aborted ? signal.reason : error));
    }
  }

  #up(watched: Watched<Server>): void {
    watched.lastUseAtMs = this.#clock.nowMs();
    this.#probeLater(watched, IDLE_PROBE_MS);
    if (watched.isUp || this.#end.signal.aborted) return;
    watched.isUp = true;
    watched.fault = '';
    this.#onStates(this.states());
  }

  /** A server whose probes succeed and whose requests fail comes back less and less often. */
  #down(watched: Watched<Server>, fault: string): void {
    if (this.#end.signal.aborted) return;
    const waitMs = Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** watched.faults);
    watched.faults += 1;
    this.#probeLater(watched, waitMs);
    const isNews = watched.isUp || watched.fault !== fault;
    watched.isUp = false;
    watched.fault = fault;
    if (isNews) this.#onStates(this.states());
  }

  #probeLater(watched: Watched<Server>, waitMs: number): void {
    watched.cancelProbe();
    if (this.#end.signal.aborted) return;
    watched.cancelProbe = this.#clock.after(waitMs, () => {
      const idleMs = this.#clock.nowMs() - watched.lastUseAtMs;
      // A request that was answered is as good as a probe.
      if (watched.isUp && idleMs < IDLE_PROBE_MS) this.#probeLater(watched, IDLE_PROBE_MS - idleMs);
      else void this.#probe(watched);
    });
  }
}

/**
 * The servers' engine while one of them works, else the local one.
 *
 * @param local report on the engine that takes over.
 */
export function serverReport(facts: {
  readonly job: 'stt' | 'tts';
  /** Name as in the settings `STT` and `TTS`. */
  readonly engine: string;
  readonly states: readonly ServerState[];
  readonly local: EngineReport;
}): EngineReport {
  const { job, engine, states, local } = facts;
  const up = states.filter(({ isUp }) => isUp);
  const down = states
    .filter(({ isUp }) => !isUp)
    .map(({ address, fault }) => `"${address}" cannot be used: ${fault}`);
  if (up.length === 0) {
    const how = `Check the server: ${down.join('; ')}`;
    return {
      standIn: 'second_choice',
      ...local,
      reason: `${down.join('; ')}; ${local.reason}`,
      isFallback: true,
      replacement: { engine, how },
    };
  }
  const names = up.map(({ address }) => `"${address}"`).join(', ');
  const working = `${names} ${up.length === 1 ? 'answers' : 'answer'}`;
  const behind =
    local.standIn === 'no_model'
      ? 'nothing takes over when they fail ("npm run models" installs a local engine)'
      : `${local.engine} takes over when they fail`;
  return { job, engine, reason: [working, ...down, behind].join('; '), isFallback: false };
}

/** Logs a server that has failed, failed otherwise, or recovered. @param before undefined at the start. */
export function logServerChange(
  logger: Logger,
  job: 'stt' | 'tts',
  before: ServerState | undefined,
  { address, isUp, fault }: ServerState,
): void {
  if (before?.isUp === isUp && before.fault === fault) return;
  if (!isUp) logger.warn({ job, server: address, fault }, 'speech server failed');
  else if (before !== undefined) logger.info({ job, server: address }, 'speech server works');
}

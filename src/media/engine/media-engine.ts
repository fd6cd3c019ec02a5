/** Media engine, main thread: opens RTP sessions on the media workers and restarts dead workers. */
import { availableParallelism } from 'node:os';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { TrustedHosts } from '../../rtp/source-lock.ts';
import type { MediaSession } from '../audio-stream.ts';
import { LevelMeter } from '../dsp/level-meter.ts';
import type { SocketsReport } from '../sockets/rtp-sockets.ts';
import { type ReceiveRing, RingPool } from '../sound-rings.ts';
import {
  MediaWorkerHandle,
  type SessionMessage,
  type StartWorker,
  startMediaWorker,
  type WorkerSettings,
} from './media-worker-handle.ts';
import { PortPool, type PortRange } from './port-pool.ts';
import { RtpSessionHandle } from './rtp-session-handle.ts';

/** Thrown when no session can be opened: too many calls, or no worker is running. */
export class MediaEngineError extends Error {
  override readonly name = 'MediaEngineError';
}

/** Addresses, ports and threads of the media engine. */
export interface MediaEngineOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly ports: PortRange;
  /** IPv4 address to bind to; default 127.0.0.1. */
  readonly address?: string;
  /** Number of threads; by default derived from ports and processors. */
  readonly workers?: number;
  /** Time that a closed session's ports stay bound, in milliseconds; default 30,000. */
  readonly drainMs?: number;
  /** Whether workers ask for real-time priority; default true. */
  readonly isRealTime?: boolean;
  /** Starts a worker thread; replaced in tests. */
  readonly startWorker?: StartWorker;
}

/** Sessions that one thread paces on time, with a margin. */
const LINES_PER_WORKER_MAX = 500;
/** Threads that are started for few ports. */
const IDLE_WORKERS_MAX = 4;
/** Pause before a dead worker is replaced, so that a worker that cannot start does not spin. */
const RESTART_MS = 500;

/** The media engine: RTP sessions on worker threads. */
export class MediaEngine {
  readonly #options: MediaEngineOptions;
  readonly #settings: WorkerSettings;
  readonly #address: string;
  readonly #pool: PortPool;
  readonly #drains = new DrainQueue();
  readonly #rings = new RingPool();
  readonly #workerOf = new WeakMap<MediaSession, MediaWorkerHandle>();
  #workers: MediaWorkerHandle[] = [];
  #sessions = 0;
  #isRunning = false;

  constructor(options: MediaEngineOptions) {
    this.#options = options;
    this.#address = options.address ?? '127.0.0.1';
    const { drainMs = 30_000, isRealTime = true } = options;
    this.#settings = { drainMs, isRealTime };
    this.#pool = new PortPool({ range: options.ports, chance: Math.random() });
  }

  /** Kind of sockets in use; undefined before the start. */
  get sockets(): SocketsReport | undefined {
    return this.#workers[0]?.sockets;
  }

  /**
   * Starts the workers; resolves when all are ready.
   *
   * @throws {Error} when a thread ends at once.
   */
  async start(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    const count = this.#options.workers ?? workersFor(this.#pool.size);
    for (let started = 0; started < count; started += 1) this.#startWorker();
    try {
      await Promise.all(this.#workers.map(({ ready }) => ready));
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Ends all recordings and threads, within 2 s. Safe to call twice. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    const workers = this.#workers;
    this.#workers = [];
    await Promise.all(workers.map((worker) => worker.stop()));
  }

  /**
   * Opens a session.
   *
   * @param options.signallingAddress source IP of SIP messages: its RTP may prove to be the far end.
   * @param options.carrier a `BlockList` of other hosts whose RTP may do so.
   * @param options.near a session on whose thread this one opens, so that the two can be joined.
   * @param options.isHeld whether it sends nothing until `confirm`; default false.
   * @throws {PortsExhaustedError} when no port is free.
   * @throws {MediaEngineError} when all workers are full or none is running.
   */
  async open(
    options: TrustedHosts & {
      readonly near?: MediaSession | undefined;
      readonly isHeld?: boolean | undefined;
    },
  ): Promise<MediaSession> {
    const { near, isHeld = false, ...trusted } = options;
    const worker = this.#workerNear(near) ?? this.#leastBusy();
    const busyPorts: number[] = [];
    try {
      for (;;) {
        const port = await this.#claim();
        const session = await this.#tryPort(worker, port, { trusted, isHeld });
        if (session !== undefined) return session;
        busyPorts.push(port);
      }
    } finally {
      for (const port of busyPorts) this.#pool.release(port);
    }
  }

  /** Claims a drained port, else the draining port that has been quiet for longest. */
  async #claim(): Promise<number> {
    for (;;) {
      try {
        return this.#pool.claim();
      } catch (error) {
        const isFreed = await this.#drains.reclaim();
        if (!isFreed) throw error;
      }
    }
  }

  #startWorker(): void {
    const worker = new MediaWorkerHandle({
      settings: this.#settings,
      startWorker: this.#options.startWorker ?? startMediaWorker,
      log: this.#options.log,
      onDied: () => {
        this.#workers = this.#workers.filter((other) => other !== worker);
        this.#options.log.error({}, 'media worker died: its calls are lost, another one starts');
        this.#options.clock.after(RESTART_MS, () => {
          if (this.#isRunning) this.#startWorker();
        });
      },
    });
    this.#workers.push(worker);
  }

  #workerNear(near: MediaSession | undefined): MediaWorkerHandle | undefined {
    const worker = near && this.#workerOf.get(near);
    return worker !== undefined && this.#workers.includes(worker) ? worker : undefined;
  }

  #leastBusy(): MediaWorkerHandle {
    const [worker] = this.#workers
      .filter(({ size }) => size < LINES_PER_WORKER_MAX)
      .sort((one, other) => one.size - other.size);
    if (worker !== undefined) return worker;
    const state = this.#isRunning ? `${this.#workers.length} workers are full` : 'not started';
    throw new MediaEngineError(`Cannot open a session: media engine ${state}`);
  }

  /** @returns undefined when another program has the port. */
  async #tryPort(
    worker: MediaWorkerHandle,
    port: number,
    { trusted, isHeld }: { readonly trusted: TrustedHosts; readonly isHeld: boolean },
  ): Promise<MediaSession | undefined> {
    this.#sessions += 1;
    const sessionId = this.#sessions;
    const address = this.#address;
    const { clock } = this.#options;
    const heard = this.#rings.claim(clock.nowMs());
    const meter = new LevelMeter();
    const session = new RtpSessionHandle({
      ...{ clock, sessionId, worker, heard, meter, localPort: port, localAddress: address },
      isHeld,
    });
    const outcome = await new Promise<string>((resolve) => {
      worker.attach(sessionId, (message) => {
        session.handle(message);
        if (message.kind === 'opened') resolve('opened');
        else if (message.kind === 'refused') resolve(message.code || message.reason);
        else if (message.kind === 'gone') resolve('its worker ended');
        this.#note(worker, { sessionId, port, heard, message });
      });
      worker.tell({
        ...{ kind: 'open', sessionId, address, port, trusted },
        ...{ heard: heard.buffer, meter: meter.buffer },
      });
    });
    if (outcome === 'opened') {
      this.#workerOf.set(session, worker);
      return session;
    }
    worker.detach(sessionId);
    this.#rings.release(heard, this.#options.clock.nowMs());
    if (outcome === 'EADDRINUSE') return undefined;
    this.#pool.release(port);
    throw new MediaEngineError(`Cannot open a session on "${address}:${port}": ${outcome}`);
  }

  /** Releases ports and rings, and logs faults. */
  #note(
    worker: MediaWorkerHandle,
    of: { sessionId: number; port: number; heard: ReceiveRing; message: SessionMessage },
  ): void {
    const { sessionId, port, heard, message } = of;
    if (message.kind === 'overflow') {
      this.#options.log.warn({ sessionId }, 'reply is too long: its end is not played');
    } else if (message.kind === 'fault') {
      this.#options.log.error(
        { sessionId, reason: message.reason },
        'session failed: its call is lost',
      );
    } else if (message.kind === 'closed') {
      this.#rings.release(heard, this.#options.clock.nowMs());
      this.#drains.add(sessionId, worker);
    } else if (message.kind === 'kept') {
      this.#drains.settle(sessionId, false);
    } else if (message.kind === 'drained' || message.kind === 'gone') {
      worker.detach(sessionId);
      this.#rings.release(heard, this.#options.clock.nowMs());
      this.#pool.release(port);
      this.#drains.settle(sessionId, true);
    }
  }
}

function workersFor(portPairs: number): number {
  const needed = Math.ceil(portPairs / LINES_PER_WORKER_MAX);
  const spare = Math.min(IDLE_WORKERS_MAX, availableParallelism() - 1);
  return Math.max(1, needed, spare);
}

interface Draining {
  readonly worker: Pick<MediaWorkerHandle, 'tell'>;
  /** Set while the worker is asked. */
  answer?: (isFree: boolean) => void;
}

/** Draining sessions that are asked for one port; where all of them still receive packets, the call is refused. */
const ASKED_MAX = 8;

/** Sessions whose ports drain, in the order of their closing. */
export class DrainQueue {
  readonly #sessions = new Map<number, Draining>();

  /** Adds a closed session. */
  add(sessionId: number, worker: Pick<MediaWorkerHandle, 'tell'>): void {
    this.#sessions.set(sessionId, { worker });
  }

  /** Notes that a session's ports are free, or that its worker keeps them. */
  settle(sessionId: number, isFree: boolean): void {
    const draining = this.#sessions.get(sessionId);
    if (draining === undefined) return;
    this.#sessions.delete(sessionId);
    draining.answer?.(isFree);
    // To the end: others are asked before it is asked again.
    if (!isFree) this.#sessions.set(sessionId, { worker: draining.worker });
  }

  /** Frees the ports of the session that has drained longest and receives nothing. @returns whether there was one. */
  async reclaim(): Promise<boolean> {
    for (let asked = 0; asked < ASKED_MAX; asked += 1) {
      const next = [...this.#sessions].find(([, { answer }]) => answer === undefined);
      if (next === undefined) return false;
      const [sessionId, draining] = next;
      const isFree = await new Promise<boolean>((resolve) => {
        draining.answer = resolve;
        draining.worker.tell({ kind: 'reclaim', sessionId });
      });
      if (isFree) return true;
    }
    return false;
  }
}

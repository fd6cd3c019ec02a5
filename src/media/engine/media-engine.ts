/** Opens sessions for calls on the media workers, and keeps the workers alive. */
import { availableParallelism } from 'node:os';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { TrustedHosts } from '../../rtp/source-lock.ts';
import type { MediaSession } from '../audio-stream.ts';
import { type ReceiveRing, RingPool } from '../buffers/receive-ring.ts';
import { LevelMeter } from '../dsp/level-meter.ts';
import type { SocketsReport } from '../sockets/rtp-sockets.ts';
import type { WorkerSettings } from './media-protocol.ts';
import {
  MediaWorkerHandle,
  type SessionMessage,
  type StartWorker,
  startMediaWorker,
} from './media-worker-handle.ts';
import { PortPool, type PortRange } from './port-pool.ts';
import { RtpSessionHandle } from './rtp-session-handle.ts';

/** No session could be opened: too many calls, or the workers are gone. */
export class MediaEngineError extends Error {
  override readonly name = 'MediaEngineError';
}

export interface MediaEngineOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly ports: PortRange;
  /** IPv4 to bind to; 127.0.0.1 unless said otherwise. */
  readonly address?: string;
  /** How many threads; from the machine unless said otherwise. */
  readonly workers?: number;
  /** How long a closed session's ports stay bound; 30,000 unless said otherwise. */
  readonly drainMs?: number;
  /** Whether workers ask for real-time priority; true unless said otherwise. */
  readonly isRealTime?: boolean;
  /** Starts a thread; the real one unless a test says otherwise. */
  readonly startWorker?: StartWorker;
}

/** One thread keeps its 20 ms for so many calls, with a margin. */
const LINES_PER_WORKER_MAX = 500;
/** More threads than this gain nothing before their sessions are many. */
const IDLE_WORKERS_MAX = 4;
/** Pause before a dead worker is replaced, so that one that cannot start does not spin. */
const RESTART_MS = 500;

export class MediaEngine {
  readonly #options: MediaEngineOptions;
  readonly #settings: WorkerSettings;
  readonly #address: string;
  readonly #pool: PortPool;
  readonly #drains = new DrainQueue();
  readonly #rings = new RingPool();
  readonly #metersOn = LevelMeter.allocateCount();
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

  /** Which sockets its threads have; undefined before the start. */
  get sockets(): SocketsReport | undefined {
    return this.#workers[0]?.sockets;
  }

  /**
   * Starts the workers; resolves when they can be asked.
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
   * @param options.signallingAddress the IP address that SIP came from: RTP from there may prove itself.
   * @param options.carrier a `BlockList` of other addresses from which it may.
   * @param options.near a session that this one is to be joined with, so that both are on one thread.
   * @param options.isHeld whether it sends nothing until `confirm`; false when not given.
   * @throws {PortsExhaustedError} when no port is free.
   * @throws {MediaEngineError} when the workers have all the calls that they can keep in time, or are not running.
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

  /** A port that has rested, or, where none is left, the one that was quiet for longest. */
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

  /** Undefined also where the thread is gone: then there is nothing to be joined with. */
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

  /** Returns undefined when another program has the port. */
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
    const meter = new LevelMeter(LevelMeter.allocate(this.#metersOn));
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

  /** Frees what is free again, and logs what an operator should know. */
  #note(
    worker: MediaWorkerHandle,
    of: { sessionId: number; port: number; heard: ReceiveRing; message: SessionMessage },
  ): void {
    const { sessionId, port, heard, message } = of;
    if (message.kind === 'overflow') {
      this.#options.log.warn({ sessionId }, 'reply is too long: its end is left out');
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
  /** Set while its worker is being asked. */
  answer?: (isFree: boolean) => void;
}

/** So many are asked for one port: where all of them still hear packets, the call is refused. */
const ASKED_MAX = 8;

/** The sessions whose ports drain, in the order of their closing. */
export class DrainQueue {
  readonly #sessions = new Map<number, Draining>();

  /** A session has been closed, and drains from now on. */
  add(sessionId: number, worker: Pick<MediaWorkerHandle, 'tell'>): void {
    this.#sessions.set(sessionId, { worker });
  }

  /** A session's ports are free (`isFree`), or its worker was asked for them and keeps them. */
  settle(sessionId: number, isFree: boolean): void {
    const draining = this.#sessions.get(sessionId);
    if (draining === undefined) return;
    this.#sessions.delete(sessionId);
    draining.answer?.(isFree);
    // To the end: others are asked before it is asked again.
    if (!isFree) this.#sessions.set(sessionId, { worker: draining.worker });
  }

  /** Asks for the ports of the session that has drained longest and on which nothing arrives. @returns whether some are free now. */
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

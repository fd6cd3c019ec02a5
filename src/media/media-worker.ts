/** The media worker's thread: owns sockets, lines and the wheel; does what the main thread asks, line by line. */
import { randomBytes } from 'node:crypto';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { type Clock, systemClock } from '../lib/clock.ts';
import { Alarm } from './alarm.ts';
import { HeardRing } from './heard-ring.ts';
import { MediaLine } from './media-line.ts';
import type { FromWorker, ToWorker, WorkerStart } from './media-protocol.ts';
import { type OnDatagram, PortPair } from './port-pair.ts';
import { SendWheel } from './send-wheel.ts';
import { steadyClock } from './steady-clock.ts';
import { raiseThreadPriority } from './thread-priority.ts';

/** Ports on which nothing came for so long may be used early, when no others are left. */
const QUIET_MS = 1000;

/** A request about an open line. */
type LineRequest = Exclude<ToWorker, { kind: 'open' | 'stop' | 'reclaim' }>;

/** Ports of a closed line. */
interface DrainingPorts {
  readonly ports: PortPair;
  cancel: () => void;
  /** When the line was closed, or something last arrived. */
  heardAtMs: number;
}

interface OpenLine {
  readonly line: MediaLine;
  readonly ports: PortPair;
}

class MediaWorker {
  readonly #port: MessagePort;
  readonly #settings: WorkerStart;
  readonly #clock: Clock = systemClock;
  readonly #wheel: SendWheel;
  readonly #lines = new Map<number, OpenLine>();
  readonly #draining = new Map<number, DrainingPorts>();

  constructor(port: MessagePort, settings: WorkerStart) {
    this.#port = port;
    this.#settings = settings;
    this.#wheel = new SendWheel({
      clock: steadyClock(new Alarm(settings.alarm)),
      onFault: (rider, error) => {
        const [id] = [...this.#lines].find(([, { line }]) => line === rider) ?? [];
        if (id !== undefined) this.#fail(id, error);
      },
    });
  }

  async start(): Promise<void> {
    this.#port.on('message', (messages: readonly ToWorker[]) => {
      for (const message of messages) this.#handle(message);
    });
    const priority = this.#settings.isRealTime ? await raiseThreadPriority() : 'normal: not asked';
    this.#tell({ kind: 'ready', priority });
  }

  #handle(message: ToWorker): void {
    if (message.kind === 'open') {
      void this.#open(message);
    } else if (message.kind === 'stop') {
      void this.#stop();
    } else if (message.kind === 'reclaim') {
      this.#reclaim(message.line);
    } else {
      this.#handleGuarded(message);
    }
  }

  async #open(request: Extract<ToWorker, { kind: 'open' }>): Promise<void> {
    const { line: id, address, port, signallingAddress } = request;
    try {
      const ports = await PortPair.bind({ address, port });
      const line = new MediaLine({
        heard: new HeardRing(request.heard),
        wheel: this.#wheel,
        signallingAddress,
        nextUint32: () => randomBytes(4).readUInt32BE(),
        transmitRtp: (datagram, target) => ports.sendRtp(datagram, target),
        transmitRtcp: (datagram, target) => ports.sendRtcp(datagram, target),
        emit: (event) => this.#tell({ kind: 'event', line: id, event }),
      });
      this.#lines.set(id, { line, ports });
      ports.listen({
        onRtp: this.#guarded(id, (datagram, source) =>
          line.onRtp(datagram, source, this.#clock.nowMs()),
        ),
        onRtcp: this.#guarded(id, (datagram, source) =>
          line.onRtcp(datagram, source, this.#clock.nowMs()),
        ),
      });
      this.#tell({ kind: 'opened', line: id });
    } catch (error) {
      const { code = '', message } = error as NodeJS.ErrnoException;
      this.#tell({ kind: 'refused', line: id, code, reason: message });
    }
  }

  #handleGuarded(message: LineRequest): void {
    try {
      this.#handleLine(message);
    } catch (error) {
      this.#fail(message.line, error);
    }
  }

  #handleLine(message: LineRequest): void {
    const open = this.#lines.get(message.line);
    if (open === undefined) return;
    const { line } = open;
    const nowMs = this.#clock.nowMs();
    switch (message.kind) {
      case 'remote':
        line.setRemote(message.agreed, nowMs);
        break;
      case 'begin':
        line.begin(message.generation);
        break;
      case 'say':
        this.#say(line, message, nowMs);
        break;
      case 'finish':
        line.finish(message.generation, nowMs);
        break;
      case 'drop':
        line.drop(message.generation);
        break;
      case 'resume':
        line.resume(message.generation, nowMs);
        break;
      case 'interruptible':
        line.setInterruptible(message.isInterruptible);
        break;
      case 'digits':
        line.sendDigits(message.digits);
        break;
      case 'record':
        line.record(message.path, nowMs);
        break;
      case 'stats':
        this.#tell({ ...message, stats: line.stats() });
        break;
      case 'close':
        void this.#close(message.line, open);
        break;
      default:
        message satisfies never;
    }
  }

  #say(line: MediaLine, message: Extract<ToWorker, { kind: 'say' }>, nowMs: number): void {
    const { line: id, generation, pcm } = message;
    if (!line.say(generation, pcm, nowMs)) this.#tell({ kind: 'overflow', line: id, generation });
  }

  /** A fault of ours in one line ends that line, never the hundreds beside it. */
  #guarded(id: number, act: OnDatagram): OnDatagram {
    return (datagram, source) => {
      try {
        act(datagram, source);
      } catch (error) {
        this.#fail(id, error);
      }
    };
  }

  #fail(id: number, error: unknown): void {
    const open = this.#lines.get(id);
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#tell({ kind: 'fault', line: id, reason });
    if (open !== undefined) void this.#close(id, open);
  }

  async #close(id: number, { line, ports }: OpenLine): Promise<void> {
    this.#lines.delete(id);
    const nowMs = this.#clock.nowMs();
    // From now on whatever comes is thrown away, so that the next call on these ports hears nothing of this one.
    const draining: DrainingPorts = { ports, heardAtMs: nowMs, cancel: () => undefined };
    const onDatagram = () => {
      draining.heardAtMs = this.#clock.nowMs();
    };
    ports.listen({ onRtp: onDatagram, onRtcp: onDatagram });
    try {
      await line.close(nowMs);
    } catch (error) {
      this.#tell({ kind: 'fault', line: id, reason: String(error) });
    }
    this.#tell({ kind: 'closed', line: id });
    draining.cancel = this.#clock.after(this.#settings.drainMs, () => this.#free(id));
    this.#draining.set(id, draining);
  }

  #reclaim(id: number): void {
    const draining = this.#draining.get(id);
    if (draining === undefined) return;
    const isQuiet = this.#clock.nowMs() - draining.heardAtMs >= QUIET_MS;
    if (isQuiet) this.#free(id);
    else this.#tell({ kind: 'kept', line: id });
  }

  #free(id: number): void {
    const draining = this.#draining.get(id);
    this.#draining.delete(id);
    draining?.cancel();
    draining?.ports.close();
    this.#tell({ kind: 'drained', line: id });
  }

  async #stop(): Promise<void> {
    await Promise.all([...this.#lines].map(([id, open]) => this.#close(id, open)));
    this.#wheel.stop();
    process.exit(0);
  }

  #tell(message: FromWorker): void {
    this.#port.postMessage(message);
  }
}

if (parentPort !== null) await new MediaWorker(parentPort, workerData).start();

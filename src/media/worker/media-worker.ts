/** The media worker's thread: owns sockets, lines and the wheel; does what the main thread asks, line by line. */

import { randomInt } from 'node:crypto';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { ReceiveRing } from '../buffers/receive-ring.ts';
import { SpeechRing } from '../buffers/speech-ring.ts';
import { LevelMeter, type LevelMeterBuffer } from '../dsp/level-meter.ts';
import type { FromWorker, ToWorker, WorkerStart } from '../engine/media-protocol.ts';
import { DrainingPorts, PortPair } from '../engine/port-pool.ts';
import { RtpSession } from '../rtp-session/rtp-session.ts';
import type { SoundFeed } from '../rtp-session/sound-feed.ts';
import { openSockets } from '../sockets/open-sockets.ts';
import type { DatagramListener, RtpSockets } from '../sockets/rtp-sockets.ts';
import { Alarm, Pacer } from './pacer.ts';
import { raiseThreadPriority } from './thread-priority.ts';

/** A request about an open line. */
type LineRequest = Exclude<ToWorker, { kind: 'open' | 'stop' | 'reclaim' | 'say' }>;

interface OpenLine {
  readonly line: RtpSession;
  readonly ports: PortPair;
}

class MediaWorker {
  readonly #port: MessagePort;
  readonly #settings: WorkerStart;
  readonly #speech: SpeechRing;
  readonly #sockets: RtpSockets;
  readonly #clock: Clock = systemClock;
  readonly #wheel: Pacer;
  readonly #nextUint32 = () => randomInt(2 ** 32);
  #metersOn: Int32Array | undefined;
  readonly #lines = new Map<number, OpenLine>();
  readonly #draining: DrainingPorts;

  constructor(port: MessagePort, options: { settings: WorkerStart; sockets: RtpSockets }) {
    const { settings, sockets } = options;
    this.#port = port;
    this.#settings = settings;
    this.#speech = new SpeechRing(settings.speech);
    this.#sockets = sockets;
    this.#draining = new DrainingPorts({
      clock: this.#clock,
      drainMs: settings.drainMs,
      onFree: (line) => this.#tell({ kind: 'drained', line }),
    });
    this.#wheel = new Pacer({
      clock: sockets.clock,
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
    this.#tell({ kind: 'ready', priority, sockets: this.#sockets.report });
  }

  #handle(message: ToWorker): void {
    if (message.kind === 'open') {
      void this.#open(message);
    } else if (message.kind === 'stop') {
      void this.#stop();
    } else if (message.kind === 'reclaim') {
      if (!this.#draining.reclaim(message.line)) this.#tell({ kind: 'kept', line: message.line });
    } else if (message.kind === 'say') {
      this.#say(message);
    } else {
      this.#guard(message.line, () => this.#handleLine(message));
    }
  }

  async #open(request: Extract<ToWorker, { kind: 'open' }>): Promise<void> {
    const { line: id, address, port, trusted } = request;
    try {
      const ports = await PortPair.bind(this.#sockets, { address, port });
      const line = new RtpSession({
        heard: new ReceiveRing(request.heard),
        meter: this.#meterOf(request.meter),
        wheel: this.#wheel,
        trusted,
        nextUint32: this.#nextUint32,
        network: ports,
        emit: (event) => this.#tell({ kind: 'event', line: id, event }),
        onFault: (error) => this.#fail(id, error),
      });
      this.#lines.set(id, { line, ports });
      const rtcp: DatagramListener = {
        onDatagram: (...report) => this.#guard(id, () => line.onRtcp(...report)),
      };
      ports.listen({ rtp: line, rtcp });
      this.#tell({ kind: 'opened', line: id });
    } catch (error) {
      const { code = '', message } = error as NodeJS.ErrnoException;
      this.#tell({ kind: 'refused', line: id, code, reason: message });
    }
  }

  #meterOf(buffer: LevelMeterBuffer): LevelMeter {
    this.#metersOn ??= new Int32Array(buffer.watched);
    return new LevelMeter(buffer, this.#metersOn);
  }

  /** A fault of ours in one line ends that line, never the hundreds beside it. */
  #guard(id: number, act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#fail(id, error);
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
        line.record(message.path, message.atMs);
        break;
      case 'background':
      case 'feed':
      case 'mix':
        this.#handOver(line, message);
        break;
      case 'stats':
        this.#tell({ ...message, stats: line.stats() });
        break;
      case 'tap':
        line.tap(message.played === null ? undefined : new ReceiveRing(message.played));
        break;
      case 'close':
        void this.#close(message.line, open);
        break;
      default:
        message satisfies never;
    }
  }

  /** What is asked on the way to somebody else than the agent. */
  #handOver(
    line: RtpSession,
    message: Extract<ToWorker, { kind: 'background' | 'feed' | 'mix' }>,
  ): void {
    if (message.kind === 'background') line.setBackground(message.pcm);
    else if (message.kind === 'mix') line.feed.mixWith(this.#feedOf(message.other));
    else line.feed.from(this.#feedOf(message.source));
  }

  #feedOf(id: number | undefined): SoundFeed | undefined {
    return this.#lines.get(id ?? 0)?.line.feed;
  }

  /** Takes speech out of the ring for a line that is gone as well: what comes after it is another line's. */
  #say({ line: id, generation, speech }: Extract<ToWorker, { kind: 'say' }>): void {
    const say = (pcm: Int16Array) => {
      const hadRoom = this.#lines.get(id)?.line.say(generation, pcm, this.#clock.nowMs());
      if (hadRoom === false) this.#tell({ kind: 'overflow', line: id, generation });
    };
    const sayGuarded = (pcm: Int16Array) => this.#guard(id, () => say(pcm));
    if (typeof speech === 'number') this.#speech.read(speech, sayGuarded);
    else sayGuarded(speech);
  }

  #fail(id: number, error: unknown): void {
    const open = this.#lines.get(id);
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#tell({ kind: 'fault', line: id, reason });
    if (open !== undefined) void this.#close(id, open);
  }

  async #close(id: number, { line, ports }: OpenLine): Promise<void> {
    this.#lines.delete(id);
    const rest = this.#draining.empty(ports);
    try {
      await line.close(this.#clock.nowMs());
    } catch (error) {
      this.#tell({ kind: 'fault', line: id, reason: String(error) });
    }
    this.#tell({ kind: 'closed', line: id });
    rest(id);
  }

  async #stop(): Promise<void> {
    await Promise.all([...this.#lines].map(([id, open]) => this.#close(id, open)));
    this.#wheel.stop();
    this.#sockets.stop();
    process.exit(0);
  }

  #tell(message: FromWorker): void {
    this.#port.postMessage(message);
  }
}

if (parentPort !== null) {
  const settings: WorkerStart = workerData;
  const { alarm, isPortable } = settings;
  const sockets = await openSockets({ alarm: new Alarm(alarm), isPortable });
  await new MediaWorker(parentPort, { settings, sockets }).start();
}

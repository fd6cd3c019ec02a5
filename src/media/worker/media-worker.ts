/** Media worker, a thread: owns the RTP sessions, their port pairs and the pacer; runs the main thread's requests. */

import { randomInt } from 'node:crypto';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { type Clock, systemClock } from '../../lib/clock.ts';
import type { Source } from '../../rtp/source-lock.ts';
import { LevelMeter } from '../dsp/level-meter.ts';
import type { FromWorker, ToWorker, WorkerStart } from '../engine/media-worker-handle.ts';
import { RtpSession } from '../rtp-session/rtp-session.ts';
import type { SoundFeed } from '../rtp-session/sound-feed.ts';
import { openSockets } from '../sockets/open-sockets.ts';
import type { DatagramListener, RtpSocket, RtpSockets } from '../sockets/rtp-sockets.ts';
import { ReceiveRing, SpeechRing } from '../sound-rings.ts';
import { Pacer } from './pacer.ts';
import { raiseThreadPriority } from './thread-priority.ts';

/** Both UDP sockets of a session: RTP on an even port, RTCP one above. */
export class PortPair {
  readonly #rtp: RtpSocket;
  readonly #rtcp: RtpSocket;

  private constructor(rtp: RtpSocket, rtcp: RtpSocket) {
    this.#rtp = rtp;
    this.#rtcp = rtcp;
  }

  /**
   * Binds both ports; packets are dropped until `listen`.
   *
   * @param place its port is even.
   * @throws {Error} with `code` EADDRINUSE when either port is taken, and the system's other errors.
   */
  static async bind(sockets: RtpSockets, place: Source): Promise<PortPair> {
    const { address, port } = place;
    const rtp = await sockets.bind(place);
    try {
      return new PortPair(rtp, await sockets.bind({ address, port: port + 1 }));
    } catch (error) {
      rtp.close();
      throw error;
    }
  }

  listen(listeners: { readonly rtp: DatagramListener; readonly rtcp: DatagramListener }): void {
    this.#rtp.listen(listeners.rtp);
    this.#rtcp.listen(listeners.rtcp);
  }

  sendRtp(datagram: Uint8Array, target: Source): void {
    this.#rtp.send(datagram, target);
  }

  sendRtcp(datagram: Uint8Array, target: Source): void {
    this.#rtcp.send(datagram, target);
  }

  /** Safe to call twice. */
  close(): void {
    this.#rtp.close();
    this.#rtcp.close();
  }
}

/** Time without packets after which a draining port may be used early. */
const QUIET_MS = 1000;

interface Draining {
  readonly ports: PortPair;
  cancel: () => void;
  /** Time of closing or of the last packet. */
  heardAtMs: number;
}

/** Port pairs of ended sessions, kept until no late packet comes any more. */
export class DrainingPorts {
  readonly #clock: Clock;
  readonly #drainMs: number;
  readonly #onFree: (sessionId: number) => void;
  readonly #draining = new Map<number, Draining>();

  constructor(options: {
    readonly clock: Clock;
    readonly drainMs: number;
    /** Called when the ports of a session are closed. */
    readonly onFree: (sessionId: number) => void;
  }) {
    this.#clock = options.clock;
    this.#drainMs = options.drainMs;
    this.#onFree = options.onFree;
  }

  /**
   * Drops all packets from now on.
   *
   * @returns starts the drain time of the session with the given number.
   */
  empty(ports: PortPair): (sessionId: number) => void {
    const clock = this.#clock;
    const draining: Draining = { ports, heardAtMs: clock.nowMs(), cancel: () => undefined };
    const noting = {
      onDatagram: () => {
        draining.heardAtMs = clock.nowMs();
      },
    };
    ports.listen({ rtp: noting, rtcp: noting });
    return (sessionId) => {
      this.#draining.set(sessionId, draining);
      draining.cancel = clock.after(this.#drainMs, () => this.#free(sessionId));
    };
  }

  /** Closes a session's ports early unless packets arrive. @returns whether they are closed. */
  reclaim(sessionId: number): boolean {
    const draining = this.#draining.get(sessionId);
    if (draining === undefined) return true;
    if (this.#clock.nowMs() - draining.heardAtMs < QUIET_MS) return false;
    this.#free(sessionId);
    return true;
  }

  #free(sessionId: number): void {
    const draining = this.#draining.get(sessionId);
    this.#draining.delete(sessionId);
    draining?.cancel();
    draining?.ports.close();
    this.#onFree(sessionId);
  }
}

/** A request about an open session. */
type SessionRequest = Exclude<ToWorker, { kind: 'open' | 'stop' | 'reclaim' | 'say' }>;

interface OpenSession {
  readonly session: RtpSession;
  readonly ports: PortPair;
}

class MediaWorker {
  readonly #port: MessagePort;
  readonly #settings: WorkerStart;
  readonly #speech: SpeechRing;
  readonly #sockets: RtpSockets;
  readonly #clock: Clock = systemClock;
  readonly #pacer: Pacer;
  readonly #nextUint32 = () => randomInt(2 ** 32);
  readonly #sessions = new Map<number, OpenSession>();
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
      onFree: (sessionId) => this.#tell({ kind: 'drained', sessionId }),
    });
    this.#pacer = new Pacer({
      clock: sockets.clock,
      onFault: (paced, error) => {
        const [id] = [...this.#sessions].find(([, { session }]) => session === paced) ?? [];
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
      if (!this.#draining.reclaim(message.sessionId))
        this.#tell({ kind: 'kept', sessionId: message.sessionId });
    } else if (message.kind === 'say') {
      this.#say(message);
    } else {
      this.#guard(message.sessionId, () => this.#handleSession(message));
    }
  }

  async #open(request: Extract<ToWorker, { kind: 'open' }>): Promise<void> {
    const { sessionId: id, address, port, trusted } = request;
    try {
      const ports = await PortPair.bind(this.#sockets, { address, port });
      const session = new RtpSession({
        heard: new ReceiveRing(request.heard),
        meter: new LevelMeter(request.meter),
        pacer: this.#pacer,
        trusted,
        nextUint32: this.#nextUint32,
        network: ports,
        emit: (event) => this.#tell({ kind: 'event', sessionId: id, event }),
        onFault: (error) => this.#fail(id, error),
      });
      this.#sessions.set(id, { session, ports });
      const rtcp: DatagramListener = {
        onDatagram: (...report) => this.#guard(id, () => session.onRtcp(...report)),
      };
      ports.listen({ rtp: session, rtcp });
      this.#tell({ kind: 'opened', sessionId: id });
    } catch (error) {
      const { code = '', message } = error as NodeJS.ErrnoException;
      this.#tell({ kind: 'refused', sessionId: id, code, reason: message });
    }
  }

  /** Ends a session that throws; the other sessions go on. */
  #guard(id: number, act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#fail(id, error);
    }
  }

  #handleSession(message: SessionRequest): void {
    const open = this.#sessions.get(message.sessionId);
    if (open === undefined) return;
    const { session } = open;
    const nowMs = this.#clock.nowMs();
    switch (message.kind) {
      case 'remote':
        session.setRemote(message.agreed, nowMs);
        break;
      case 'begin':
      case 'finish':
      case 'drop':
      case 'resume':
        session[message.kind](message.generation, nowMs);
        break;
      case 'pause-after':
        session.setPauseAfter(message.voiceMs);
        break;
      case 'private':
        session.setPrivate(message.isPrivate);
        break;
      case 'digits':
        session.sendDigits(message.digits);
        break;
      case 'record':
        session.record(message.path, message.atMs);
        break;
      case 'background':
        session.setBackground(message.pcm);
        break;
      case 'feed':
        session.feed.from(this.#feedOf(message.source));
        break;
      case 'mix':
        session.feed.mixWith(this.#feedOf(message.other));
        break;
      case 'stats':
        this.#tell({ ...message, stats: session.stats() });
        break;
      case 'tap':
        session.tap(message.played === null ? undefined : new ReceiveRing(message.played));
        break;
      case 'close':
        void this.#close(message.sessionId, open);
        break;
      default:
        message satisfies never;
    }
  }

  #feedOf(id: number | undefined): SoundFeed | undefined {
    return this.#sessions.get(id ?? 0)?.session.feed;
  }

  /** Takes speech out of the ring, for a closed session too: the speech after it belongs to another session. */
  #say({ sessionId: id, generation, speech }: Extract<ToWorker, { kind: 'say' }>): void {
    const say = (pcm: Int16Array) => {
      const hadRoom = this.#sessions.get(id)?.session.say(generation, pcm, this.#clock.nowMs());
      if (hadRoom === false) this.#tell({ kind: 'overflow', sessionId: id, generation });
    };
    const sayGuarded = (pcm: Int16Array) => this.#guard(id, () => say(pcm));
    if (typeof speech === 'number') this.#speech.read(speech, sayGuarded);
    else sayGuarded(speech);
  }

  #fail(id: number, error: unknown): void {
    const open = this.#sessions.get(id);
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#tell({ kind: 'fault', sessionId: id, reason });
    if (open !== undefined) void this.#close(id, open);
  }

  async #close(id: number, { session, ports }: OpenSession): Promise<void> {
    this.#sessions.delete(id);
    const rest = this.#draining.empty(ports);
    try {
      await session.close(this.#clock.nowMs());
    } catch (error) {
      this.#tell({ kind: 'fault', sessionId: id, reason: String(error) });
    }
    this.#tell({ kind: 'closed', sessionId: id });
    rest(id);
  }

  async #stop(): Promise<void> {
    await Promise.all([...this.#sessions].map(([id, open]) => this.#close(id, open)));
    this.#pacer.stop();
    this.#sockets.stop();
    process.exit(0);
  }

  #tell(message: FromWorker): void {
    this.#port.postMessage(message);
  }
}

if (parentPort !== null) {
  const settings: WorkerStart = workerData;
  const sockets = await openSockets();
  await new MediaWorker(parentPort, { settings, sockets }).start();
}

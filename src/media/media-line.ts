/** One call's sound inside the media worker: both halves of the line, the recorder, and barge-in. */
import { isRtcp, parseRtp } from '../rtp/packet.ts';
import type { AgreedMedia } from '../rtp/sdp-answer.ts';
import { type Source, SourceLock } from '../rtp/source-lock.ts';
import type { AudioEvent, AudioStats } from './audio-stream.ts';
import { EnergyDetector } from './energy-detector.ts';
import { FrameSplitter } from './frame-splitter.ts';
import type { HeardRing } from './heard-ring.ts';
import { levelDbfs, SILENCE_DBFS } from './level.ts';
import type { LevelMeter } from './level-meter.ts';
import { LineFeed } from './line-feed.ts';
import { LineReceiver } from './line-receiver.ts';
import { LineReports, reportTarget } from './line-reports.ts';
import { LineSender, SILENT_FRAME } from './line-sender.ts';
import type { Rider, SendWheel } from './send-wheel.ts';
import { WavRecorder } from './wav-recorder.ts';

export interface MediaLineOptions {
  readonly heard: HeardRing;
  readonly meter: LevelMeter;
  readonly wheel: SendWheel;
  /** The IP address that SIP came from. */
  readonly signallingAddress: string;
  readonly nextUint32: () => number;
  readonly transmitRtp: (datagram: Uint8Array, target: Source) => void;
  readonly transmitRtcp: (datagram: Uint8Array, target: Source) => void;
  readonly emit: (event: AudioEvent) => void;
}

/** Driven by datagrams, by the wheel, and by what the main thread asks for. Reads no clock: instants are given. */
export class MediaLine implements Rider {
  /** Joins it with other lines. */
  readonly feed: LineFeed;
  readonly #options: MediaLineOptions;
  readonly #lock = new SourceLock();
  readonly #detector = new EnergyDetector();
  readonly #splitter = new FrameSplitter();
  readonly #receiver: LineReceiver;
  readonly #sender: LineSender;
  readonly #reports: LineReports;
  #agreed: AgreedMedia | undefined;
  #recorder: WavRecorder | undefined;
  #tap: HeardRing | undefined;
  #isInterruptible = false;
  #malformed = 0;
  #hasAgent = true;

  constructor(options: MediaLineOptions) {
    this.#options = options;
    const { wheel, nextUint32, emit } = options;
    this.#receiver = new LineReceiver({
      onPcm: (pcm, atMs) => this.#hear(pcm, atMs),
      onDigit: (digit) => {
        this.feed.press(digit.digit);
        if (this.#hasAgent) emit({ kind: 'digit', ...digit });
      },
      onLost: () => emit({ kind: 'media-lost' }),
    });
    this.#sender = new LineSender({
      ...{ wheel, rider: this, nextUint32, emit },
      transmit: (datagram) => this.#transmit(datagram),
      onFrame: (pcm, nowMs) => this.#played(pcm, nowMs),
    });
    this.feed = new LineFeed(this.#sender);
    const { reception } = this.#receiver;
    this.#reports = new LineReports({ sender: this.#sender, reception, nextUint32 });
  }

  /** Takes what signalling agreed on; the line joins the wheel by it. */
  setRemote(agreed: AgreedMedia, nowMs: number): void {
    const { wheel, signallingAddress } = this.#options;
    if (this.#agreed === undefined) wheel.add(this);
    this.#agreed = agreed;
    const { address, port } = agreed;
    // The old way to say hold names no address to expect anything from.
    if (address !== '0.0.0.0') this.#lock.expect({ address, port, signallingAddress }, nowMs);
    this.#receiver.setRemote(agreed, nowMs);
    this.#sender.setRemote(agreed);
  }

  onRtp(datagram: Uint8Array, source: Source, nowMs: number): void {
    const packet = parseRtp(datagram);
    if (packet === undefined) {
      if (isRtcp(datagram)) this.onRtcp(datagram, source, nowMs);
      else this.#malformed += 1;
    } else if (!this.#receiver.understands(packet)) {
      this.#malformed += 1;
    } else if (this.#lock.accept(source, packet, nowMs)) {
      this.#receiver.receive(packet, nowMs);
      this.feed.pass(packet, this.#receiver.contentOf(packet), nowMs);
    }
  }

  /** Takes a report of the far end's host, from whichever port. */
  onRtcp(datagram: Uint8Array, source: Source, nowMs: number): void {
    if (source.address !== this.#lock.target?.address || !isRtcp(datagram)) {
      this.#malformed += 1;
      return;
    }
    this.#receiver.showLife(nowMs);
    this.#reports.receive(datagram, nowMs);
  }

  setBackground(pcm: Int16Array | undefined): void {
    this.#sender.setBackground(pcm);
  }

  /** Takes the agent out: it says and hears nothing any more. Resolves when the recording is whole. */
  async leave(): Promise<void> {
    this.#hasAgent = false;
    const { playout } = this.#sender;
    if (playout.generation !== undefined) this.drop(playout.generation);
    this.#sender.setBackground(undefined);
    await this.#recorder?.close();
  }

  begin(generation: number): void {
    if (!this.#hasAgent) return;
    this.#sender.report(this.#sender.playout.begin(generation));
  }

  /** Adds to the reply; returns false when it had no room for all of it. */
  say(generation: number, pcm: Int16Array, nowMs: number): boolean {
    const hadRoom = this.#sender.playout.say(generation, pcm);
    this.#sender.startTalking(nowMs);
    return hadRoom;
  }

  finish(generation: number, nowMs: number): void {
    this.#sender.report(this.#sender.playout.finish(generation));
    this.#sender.startTalking(nowMs);
  }

  drop(generation: number): void {
    this.#sender.report(this.#sender.playout.drop(generation));
  }

  resume(generation: number, nowMs: number): void {
    this.#sender.playout.resume(generation);
    this.#sender.startTalking(nowMs);
  }

  setInterruptible(isInterruptible: boolean): void {
    this.#isInterruptible = isInterruptible;
  }

  sendDigits(digits: string): void {
    this.#sender.sendDigits(digits);
  }

  /** @param startedAtMs where the recording begins: sound that comes later has silence before it. */
  record(path: string, startedAtMs: number): void {
    this.#recorder ??= new WavRecorder({
      path,
      startedAtMs,
      onFailed: (reason) => this.#options.emit({ kind: 'recording-failed', reason }),
    });
  }

  /** From now on, what is played goes into this ring as well; none ends that. */
  tap(played: HeardRing | undefined): void {
    this.#tap = played;
  }

  stats(): AudioStats {
    const { packetsReceived, packetsLost, jitterMs } = this.#receiver.reception;
    return {
      packetsReceived,
      packetsLost,
      jitterMs,
      packetsSent: this.#sender.packetsSent,
      packetsRejected: this.#lock.rejected + this.#malformed,
      details: this.#agreed && {
        codec: this.#agreed.codec,
        packetsLate: this.#receiver.packetsLate,
        remote: this.#reports.remote.figures,
      },
    };
  }

  /** The wheel's turn: silence that is due by the clock, then our own packet, then a report. */
  ride(nowMs: number): void {
    this.#receiver.tick(nowMs);
    this.#sender.tick(nowMs);
    const report = this.#reports.due(nowMs);
    if (report !== undefined) this.#transmitReport(report);
  }

  /** Leaves the wheel, says goodbye, and resolves when the recording is whole. */
  async close(nowMs: number): Promise<void> {
    this.#options.wheel.remove(this);
    this.feed.stop();
    if (this.#sender.packetsSent > 0) this.#transmitReport(this.#reports.goodbye(nowMs));
    await this.#recorder?.close();
  }

  #hear(pcm: Int16Array, atMs: number): void {
    if (!this.#hasAgent) return;
    this.#recorder?.add('caller', pcm, atMs);
    const heard = this.feed.hear(pcm);
    this.#options.heard.write(heard, atMs);
    const { meter } = this.#options;
    for (const frame of this.#splitter.split(heard)) {
      const change = this.#detector.hear(frame, atMs);
      if (meter.isOn) meter.note('caller', this.#detector.levelDbfs);
      if (change === undefined) continue;
      this.#options.emit(change);
      if (change.kind === 'voice-started') this.#pauseForCaller();
    }
  }

  /** The far end hears this frame. */
  #played(pcm: Int16Array, nowMs: number): void {
    this.#recorder?.add('agent', pcm, nowMs);
    this.#tap?.write(pcm, nowMs);
    const { meter } = this.#options;
    if (meter.isOn) meter.note('agent', pcm === SILENT_FRAME ? SILENCE_DBFS : levelDbfs(pcm));
  }

  /** Stops talking at once; what is left is kept until the turn machine says resume or drop. */
  #pauseForCaller(): void {
    const { playout } = this.#sender;
    const { generation, playedMs } = playout;
    const isTalking = generation !== undefined && playedMs > 0 && !playout.isPaused;
    if (!isTalking || !this.#isInterruptible) return;
    playout.pause();
    this.#options.emit({ kind: 'playout-paused', generation, playedMs });
  }

  #transmit(datagram: Uint8Array): void {
    const { target } = this.#lock;
    if (target !== undefined) this.#options.transmitRtp(datagram, target);
  }

  #transmitReport(report: Uint8Array): void {
    const { target } = this.#lock;
    if (target === undefined || this.#agreed === undefined) return;
    const reportsTo = reportTarget(target, this.#agreed);
    if (this.#agreed.isRtcpMuxed) this.#options.transmitRtp(report, target);
    else if (reportsTo !== undefined) this.#options.transmitRtcp(report, reportsTo);
  }
}

/** One party's RTP session in a media worker: receiver, sender, RTCP, recording and the first stage of barge-in. */
import { CODECS } from '../../rtp/codecs.ts';
import type { PressedDigit } from '../../rtp/dtmf.ts';
import { isRtcp, PacketInHand } from '../../rtp/packet.ts';
import type { AgreedMedia } from '../../rtp/sdp-answer.ts';
import { type Source, SourceLock, type TrustedHosts } from '../../rtp/source-lock.ts';
import { type AudioEvent, type AudioStats, FRAME_MS } from '../audio-stream.ts';
import { EchoGate } from '../dsp/echo-gate.ts';
import { DtmfDetector } from '../dsp/in-band-dtmf.ts';
import { type LevelMeter, levelDbfs, SILENCE_DBFS } from '../dsp/level-meter.ts';
import { WavRecorder } from '../recording/wav-recorder.ts';
import type { DatagramListener } from '../sockets/rtp-sockets.ts';
import type { ReceiveRing } from '../sound-rings.ts';
import type { Pacer } from '../worker/pacer.ts';
import { CallerAudio } from './caller-audio.ts';
import { RtcpReports, type RtpNetwork, sendReport } from './rtcp-reports.ts';
import { type ListeningSession, RtpReceiver } from './rtp-receiver.ts';
import { RtpSender, type SendingSession, SILENT_FRAME } from './rtp-sender.ts';
import { SecureRtp } from './secure-rtp.ts';
import { SoundFeed } from './sound-feed.ts';

/** Packet under way, shared by all sessions of the thread, so that it stays in the processor's cache. */
const packet = new PacketInHand();

/** How long after our own tones a line may give them back: they are not the caller's. */
const TONE_ECHO_MS = 400;

/** Dependencies of one RTP session. */
export interface RtpSessionOptions {
  /** Receives the caller's audio, for the hearing thread. */
  readonly heard: ReceiveRing;
  readonly meter: LevelMeter;
  readonly pacer: Pacer;
  readonly trusted: TrustedHosts;
  readonly nextUint32: () => number;
  readonly network: RtpNetwork;
  readonly emit: (event: AudioEvent) => void;
  /** Called with an exception that a datagram caused. */
  readonly onFault: (error: unknown) => void;
}

/** Driven by datagrams, the pacer and requests of the main thread. Reads no clock: instants are arguments. */
export class RtpSession implements DatagramListener, ListeningSession, SendingSession {
  readonly #options: RtpSessionOptions;
  /** The sockets, or the SRTP in front of them. */
  #network: RtpNetwork;
  /** Undefined for plain RTP. */
  #secure: SecureRtp | undefined;
  /** Keeps the state of all keys so far; created by the first agreement with keys. */
  #srtp: SecureRtp | undefined;
  readonly #meter: LevelMeter;
  readonly #lock = new SourceLock();
  readonly #receiver = new RtpReceiver(this);
  readonly #ear: CallerAudio;
  readonly #echoGate = new EchoGate();
  /** Undefined where keys come as telephone-event. */
  #keyTones: DtmfDetector | undefined;
  readonly #sender: RtpSender;
  readonly #reports: RtcpReports;
  #agreed: AgreedMedia | undefined;
  #recorder: WavRecorder | undefined;
  #tap: ReceiveRing | undefined;
  /** Playout pauses for a voice of this length; infinite where the caller may not interrupt. */
  #pauseAfterMs = Number.POSITIVE_INFINITY;
  /** Whether the caller's sound and keys are kept from recording, recogniser, listeners and joined sessions. */
  #isPrivate = false;
  #malformed = 0;
  #hasArrived = false;
  /** Instant up to which sound was sent. */
  #saidUntilMs = Number.NEGATIVE_INFINITY;
  #feed: SoundFeed | undefined;

  constructor(options: RtpSessionOptions) {
    this.#options = options;
    this.#network = options.network;
    this.#meter = options.meter;
    const { pacer, nextUint32, heard, meter } = options;
    this.#ear = new CallerAudio({
      ...{ heard, meter },
      onVoice: (change) => this.emit(change),
      onVoiceLasts: (voiceMs) => this.#pauseForCaller(voiceMs),
    });
    this.#sender = new RtpSender(this, { pacer, nextUint32 });
    const { reception } = this.#receiver;
    this.#reports = new RtcpReports({ sender: this.#sender, reception, nextUint32 });
  }

  /** Joins the session with others; created on first use. */
  get feed(): SoundFeed {
    this.#feed ??= new SoundFeed(this.#sender);
    return this.#feed;
  }

  /** Applies the SDP agreement; the first one starts the pacing. */
  setRemote(agreed: AgreedMedia, nowMs: number): void {
    const { pacer, trusted } = this.#options;
    if (this.#agreed === undefined) pacer.add(this);
    else if (agreed.maySend !== this.#agreed.maySend)
      this.emit({ kind: 'hold', isOnHold: !agreed.maySend });
    this.#agreed = agreed;
    this.#setKeys(agreed.srtp);
    const hasEvents = agreed.telephoneEventPayloadType !== undefined;
    this.#keyTones = hasEvents ? undefined : (this.#keyTones ?? new DtmfDetector());
    const { address, port } = agreed;
    // Hold by RFC 2543 names no address to expect packets from.
    if (address !== '0.0.0.0') this.#lock.expect({ address, port, ...trusted }, nowMs);
    this.#receiver.setRemote(agreed, nowMs);
    this.#sender.setRemote(agreed);
    this.#reports.remote.setClock(CODECS[agreed.codec].clockRateHz);
  }

  onDatagram(datagram: Uint8Array, source: Source, nowMs: number): void {
    try {
      if (this.#secure === undefined) this.onRtp(datagram, source, nowMs);
      else this.#onSecured(this.#open(datagram, source, nowMs), source, nowMs);
    } catch (error) {
      this.#options.onFault(error);
    }
  }

  /** Counts a frame that was not sent. */
  onUnsent(datagram: Uint8Array): void {
    if (isRtcp(datagram)) return;
    const tagBytes = this.#secure?.tagBytes ?? 0;
    this.#sender.countUnsent(datagram.length - tagBytes);
  }

  onRtp(datagram: Uint8Array, source: Source, nowMs: number): void {
    if (!packet.read(datagram)) {
      if (isRtcp(datagram)) this.#takeReport(datagram, source, nowMs);
      else this.#malformed += 1;
    } else if (!this.#receiver.understands(packet)) {
      this.#malformed += 1;
    } else if (this.#lock.accept(source, packet, nowMs)) {
      if (!this.#hasArrived) this.#noteArrival();
      this.#pass(packet, nowMs);
      this.#receiver.receive(packet, nowMs);
    }
  }

  /** Passes a packet to a joined session, unless it is private. */
  #pass(packet: PacketInHand, nowMs: number): void {
    if (this.#isPrivate || !this.#feed?.hasSink) return;
    this.#feed.pass(packet, this.#receiver.contentOf(packet), nowMs);
  }

  /** Takes a datagram of the RTCP port. */
  onRtcp(datagram: Uint8Array, source: Source, nowMs: number): void {
    const isSealed = this.#secure !== undefined && isRtcp(datagram);
    const report = isSealed ? this.#open(datagram, source, nowMs) : datagram;
    if (report === undefined) this.#malformed += 1;
    else this.#takeReport(report, source, nowMs);
  }

  /** Unprotects a packet of SRTP or SRTCP; packets of sources that are not accepted now are dropped before authentication. */
  #open(datagram: Uint8Array, source: Source, nowMs: number): Uint8Array | undefined {
    const mayHear = isRtcp(datagram)
      ? this.#isFarEndHost(source)
      : this.#lock.mayHear(source, nowMs);
    return mayHear ? this.#secure?.open(datagram) : undefined;
  }

  /** @param packet undefined when it was not authentic: counted, and never an end of the call. */
  #onSecured(packet: Uint8Array | undefined, source: Source, nowMs: number): void {
    if (packet === undefined) this.#malformed += 1;
    else this.onRtp(packet, source, nowMs);
  }

  /** Takes an RTCP report from any port of the far end's host. */
  #takeReport(datagram: Uint8Array, source: Source, nowMs: number): void {
    if (!this.#isFarEndHost(source) || !isRtcp(datagram)) {
      this.#malformed += 1;
      return;
    }
    this.#receiver.showLife(nowMs);
    this.#reports.receive(datagram, nowMs);
  }

  #isFarEndHost({ address }: Source): boolean {
    return address === this.#lock.target?.address;
  }

  setBackground(pcm: Int16Array | undefined): void {
    this.#sender.setBackground(pcm);
  }

  begin(generation: number): void {
    this.#sender.report(this.#sender.playout.begin(generation));
  }

  /** Adds to the reply. @returns false when part of it found no room. */
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

  /** @param voiceMs how long the caller's voice lasts before playout pauses; null: playout does not pause. */
  setPauseAfter(voiceMs: number | null): void {
    this.#pauseAfterMs = voiceMs ?? Number.POSITIVE_INFINITY;
  }

  setPrivate(isPrivate: boolean): void {
    this.#isPrivate = isPrivate;
  }

  sendDigits(digits: string): void {
    this.#sender.sendDigits(digits);
  }

  /** @param startedAtMs beginning of the recording; sound that comes later has silence before it. */
  record(path: string, startedAtMs: number): void {
    this.#recorder ??= new WavRecorder({
      path,
      startedAtMs,
      onFailed: (failure) => this.emit({ kind: 'recording-failed', ...failure }),
    });
  }

  /** Copies played sound into this ring as well; undefined ends it. */
  tap(played: ReceiveRing | undefined): void {
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
        packetsUnsent: this.#sender.packetsUnsent,
        remote: this.#reports.remote.figures,
      },
    };
  }

  /** Fills silence in, then sends a packet, then an RTCP report that is due. */
  onTick(nowMs: number): void {
    this.#receiver.tick(nowMs);
    this.#sender.tick(nowMs);
    const report = this.#reports.due(nowMs);
    if (report !== undefined) this.#transmitReport(report);
  }

  /** Ends pacing, sends RTCP BYE, and resolves when the recording is complete. */
  async close(nowMs: number): Promise<void> {
    this.#options.pacer.remove(this);
    this.#feed?.stop();
    this.#sender.playout.clear();
    this.#sender.close();
    this.#receiver.close();
    if (this.#sender.packetsSent > 0) this.#transmitReport(this.#reports.goodbye(nowMs));
    await this.#recorder?.close();
  }

  hear(pcm: Int16Array, atMs: number, isConcealed: boolean): void {
    const kept = this.#isPrivate ? new Int16Array(pcm.length) : pcm;
    this.#recorder?.add('caller', kept, atMs);
    this.#feed?.forwarded(kept, atMs);
    const isUnheard = this.#echoGate.isEcho(pcm) || this.#isKeyTone(pcm, { atMs, isConcealed });
    const own = isUnheard || this.#isPrivate ? new Int16Array(pcm.length) : pcm;
    this.#feed?.relay(own);
    this.#ear.hear(this.#feed?.hear(own) ?? own, atMs, this.#echoGate.mayEcho);
  }

  /** Hears keys by their tones. @returns whether the sound is a tone, which is no voice. */
  #isKeyTone(
    pcm: Int16Array,
    { atMs, isConcealed }: { readonly atMs: number; readonly isConcealed: boolean },
  ): boolean {
    const tones = this.#keyTones;
    const isOwnEcho = atMs - this.#sender.toneAtMs < TONE_ECHO_MS;
    if (tones === undefined || isOwnEcho) return false;
    const digits = isConcealed ? tones.lose(pcm.length) : tones.hear(pcm);
    for (const digit of digits) this.press(digit);
    return tones.isTone;
  }

  press(digit: PressedDigit): void {
    if (!this.#isPrivate) this.#feed?.press(digit.digit);
    this.emit({ kind: 'digit', ...digit });
  }

  emit(event: AudioEvent): void {
    this.#options.emit(event);
  }

  fail(error: unknown): void {
    this.#options.onFault(error);
  }

  transmit(datagram: Uint8Array): void {
    const { target } = this.#lock;
    if (target !== undefined) this.#network.sendRtp(datagram, target);
  }

  overhear(pcm: Int16Array, nowMs: number): void {
    this.#echoGate.play(pcm);
    const untilMs = this.#receiver.stalls.placeOf(pcm.length, this.#saidUntilMs, nowMs);
    this.#saidUntilMs = untilMs;
    this.#recorder?.add('agent', pcm, untilMs);
    this.#tap?.write(pcm, untilMs);
    if (!this.#meter.isOn) return;
    this.#meter.note('agent', pcm === SILENT_FRAME ? SILENCE_DBFS : levelDbfs(pcm));
  }

  #setKeys(keys: AgreedMedia['srtp']): void {
    if (keys !== undefined) {
      if (this.#srtp === undefined) this.#srtp = new SecureRtp(this.#options.network, keys);
      else this.#srtp.setKeys(keys);
    }
    this.#secure = keys && this.#srtp;
    this.#network = this.#secure ?? this.#options.network;
  }

  #noteArrival(): void {
    this.#hasArrived = true;
    this.emit({ kind: 'media-arrived' });
  }

  /**
   * Barge-in in media time: pauses playout at once. The tail is kept until the turn machine resumes or drops it, by
   * `bargeInMs` in src/conversation/turn/turn-rules.ts. Detection: `EnergyDetector`.
   */
  #pauseForCaller(voiceMs: number): void {
    const isLongEnough = voiceMs >= this.#pauseAfterMs;
    // Once a voice: one that did not stop the agent before does not stop it later.
    if (!isLongEnough || voiceMs - FRAME_MS >= this.#pauseAfterMs) return;
    const { playout } = this.#sender;
    const { generation, playedMs, isPaused } = playout;
    if (generation === undefined || playedMs === 0 || isPaused) return;
    playout.pause();
    this.emit({ kind: 'playout-paused', generation, playedMs });
  }

  #transmitReport(report: Uint8Array): void {
    const { target } = this.#lock;
    sendReport(report, { target, agreed: this.#agreed, network: this.#network });
  }
}

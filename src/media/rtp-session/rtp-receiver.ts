/** Receiving half of an RTP session: packets in, unbroken sound and DTMF digits out, also after the media thread stood still. */
import { CODECS, type CodecName, isG711 } from '../../rtp/codecs.ts';
import { DtmfReceiver, type PressedDigit } from '../../rtp/dtmf.ts';
import { PacketInHand, type RtpPacket, sequenceDistance } from '../../rtp/packet.ts';
import { Reception } from '../../rtp/reception.ts';
import { type OrderedPacket, ReorderBuffer } from '../../rtp/reorder-buffer.ts';
import type { AgreedMedia } from '../../rtp/sdp-answer.ts';
import { type AudioEvent, FRAME_MS, FRAME_SAMPLES, LINE_RATE_HZ } from '../audio-stream.ts';
import { G722Decoder } from '../codecs/g722.ts';
import { OpusDecoder } from '../codecs/opus.ts';
import { decodeG711Into } from '../dsp/g711.ts';
import { LossConcealment } from '../dsp/loss-concealment.ts';

/** The RTP session that a receiver delivers to. */
export interface ListeningSession {
  /** Receives the caller's sound in order, losses concealed, gaps filled with silence. Its memory is reused afterwards. */
  hear(pcm: Int16Array, atMs: number, isConcealed: boolean): void;

  /** Receives a DTMF digit. */
  press(digit: PressedDigit): void;

  /** Receives `media-lost` once after 15 s without packets. */
  emit(event: AudioEvent): void;

  /** Ends the session: a part of it cannot go on. */
  fail(error: unknown): void;
}

/** Time without packets, except on hold, after which media counts as lost. */
const MEDIA_LOST_MS = 15_000;

/** Delay of a packet after which silence is inserted by the clock. */
const OVERDUE_MS = 60;

/** Inserted silence stays this far behind the clock, since the packet that ends it is on its way. */
const CLOCK_LAG_MS = 2 * FRAME_MS;

/** Longest stall (a suspended machine) that is filled with silence. */
const STALL_MS_MAX = 5000;

/** A larger gap in the timestamps is a restarted count, not silence. */
const GAP_SAMPLES_MAX = 5 * LINE_RATE_HZ;

/** Larger packets hold no telephone audio. */
const PAYLOAD_BYTES_MAX = 1600;

/** Sound of the packet under way, shared by all sessions of the thread. */
const usualPcm = new Int16Array(FRAME_SAMPLES);

const SILENCE = new Int16Array(FRAME_SAMPLES);

/** G.711 is understood with any agreement: a change of the codec overtakes packets that are on their way. */
const STATIC_PAYLOAD_TYPES: Readonly<Record<number, CodecName>> = { 0: 'PCMU', 8: 'PCMA' };

/** Comfort noise: the sender is silent. @see RFC 3389 */
const COMFORT_NOISE = 13;

/** Driven by packets that `SourceLock` accepted, and a tick every 20 ms. */
export class RtpReceiver {
  readonly reception = new Reception();
  readonly stalls = new StallWatch();
  readonly #session: ListeningSession;
  readonly #order = new ReorderBuffer();
  /** Concealment of G.711 and G.722; Opus has its own. */
  readonly #concealment = new LossConcealment();
  /** Undefined for other codecs. */
  #g722: G722Decoder | undefined;
  #opus: OpusDecoder | undefined;
  /** Ticks of the RTP clock per sample of the line. */
  #ticksPerSample = 1;
  /** Created by the first key. */
  #digits: DtmfReceiver | undefined;
  #isOpen = false;
  #codec: CodecName = 'PCMU';
  #payloadType: number | undefined;
  #keyPayloadType: number | undefined;
  #keyClockHz: number | undefined;
  /** False on hold: music on hold is not the caller's voice. */
  #isListening = false;
  /** Instant up to which sound or silence has been delivered. */
  #heardUntilMs = Number.NEGATIVE_INFINITY;
  #lastPacketAtMs = Number.NEGATIVE_INFINITY;
  #isLost = false;
  #isResting = false;
  #isSilentByClock = false;
  #silenceByClockSamples = 0;
  /** NaN at the beginning of a stream. */
  #nextTimestamp = Number.NaN;
  #nextSequence = Number.NaN;
  /** Whether the last packet in order was voice: after comfort noise and keys, missing sound is silence. */
  #isVoiceBefore = false;
  #packetMs = FRAME_MS;

  constructor(session: ListeningSession) {
    this.#session = session;
  }

  /** Packets that arrived after their place had been filled. */
  get packetsLate(): number {
    return this.#order.late;
  }

  setRemote(agreed: AgreedMedia, nowMs: number): void {
    if (!this.#isOpen) {
      this.#isOpen = true;
      this.#heardUntilMs = nowMs;
      this.stalls.start(nowMs);
    }
    if (agreed.codec !== this.#codec) this.#setCodec(agreed.codec);
    this.#payloadType = agreed.payloadType;
    this.#keyPayloadType = agreed.telephoneEventPayloadType;
    if (agreed.telephoneEventClockHz !== this.#keyClockHz) this.#digits = undefined;
    this.#keyClockHz = agreed.telephoneEventClockHz;
    this.#isListening = agreed.mayReceive && agreed.maySend;
    this.#lastPacketAtMs = nowMs;
    this.#isLost = false;
    this.#isResting = false;
  }

  #setCodec(codec: CodecName): void {
    this.close();
    this.#codec = codec;
    this.reception.setClock(CODECS[codec].clockRateHz);
    this.#g722 = codec === 'G722' ? new G722Decoder() : undefined;
    if (codec !== 'opus') return;
    this.#opus = new OpusDecoder(this.#session.fail.bind(this.#session));
  }

  /** Releases the decoder's memory. Safe to call twice. */
  close(): void {
    this.#opus?.close();
    this.#opus = undefined;
  }

  /** Whether the packet has an agreed payload type: voice, telephone-event, comfort noise. */
  understands({ payloadType, payloadBytes }: PacketInHand): boolean {
    if (payloadBytes === 0 || payloadBytes > PAYLOAD_BYTES_MAX) return false;
    const isVoice = this.#codecOf(payloadType) !== undefined;
    const isKey = payloadType === this.#keyPayloadType;
    return isVoice || isKey || payloadType === COMFORT_NOISE;
  }

  /** Content of a packet that another session may forward; undefined for comfort noise. */
  contentOf({ payloadType }: RtpPacket): CodecName | 'key' | undefined {
    const isKey = payloadType === this.#keyPayloadType;
    return isKey ? 'key' : this.#codecOf(payloadType);
  }

  receive(packet: PacketInHand, nowMs: number): void {
    this.reception.count(packet, nowMs);
    this.showLife(nowMs);
    this.#isResting = packet.payloadType === COMFORT_NOISE;
    if (this.#order.passes(packet)) this.#hear(packet, false, nowMs);
    else this.#sort(packet, nowMs);
  }

  #sort(packet: PacketInHand, nowMs: number): void {
    const { twice } = this.#order;
    this.#hearAll(this.#order.accept(packet, nowMs), nowMs);
    if (this.#order.twice > twice) this.reception.countTwice();
  }

  /** Notes any packet of the far end. */
  showLife(nowMs: number): void {
    this.#lastPacketAtMs = nowMs;
    this.#isLost = false;
  }

  /** Gives up late packets, inserts silence, detects media loss. Called every 20 ms. */
  tick(nowMs: number): void {
    if (!this.#isOpen || this.stalls.tick(nowMs)) return;
    this.#hearAll(this.#order.expire(nowMs), nowMs);
    if (this.#digits !== undefined) this.#pressAll(this.#digits.expire(nowMs));
    this.#fillByClock(nowMs);
    const mayBeLost = this.#isListening && !this.#isResting && !this.#isLost;
    if (mayBeLost && nowMs - this.#lastPacketAtMs >= MEDIA_LOST_MS) {
      this.#isLost = true;
      this.#session.emit({ kind: 'media-lost' });
    }
  }

  #codecOf(payloadType: number): CodecName | undefined {
    if (payloadType === this.#payloadType) return this.#codec;
    return STATIC_PAYLOAD_TYPES[payloadType];
  }

  #hearAll(packets: readonly OrderedPacket[], nowMs: number): void {
    for (const { packet, isRestart } of packets) this.#hear(packet, isRestart, nowMs);
  }

  #pressAll(digits: readonly PressedDigit[]): void {
    for (const digit of digits) this.#session.press(digit);
  }

  #hear(packet: PacketInHand | RtpPacket, isRestart: boolean, nowMs: number): void {
    const isAfterLoss = !isRestart && sequenceDistance(this.#nextSequence, packet.sequence) > 0;
    this.#nextSequence = (packet.sequence + 1) & 0xffff;
    const codec = this.#codecOf(packet.payloadType);
    if (packet.payloadType === this.#keyPayloadType) {
      this.#isVoiceBefore = false;
      this.#digits ??= new DtmfReceiver(this.#keyClockHz);
      this.#pressAll(this.#digits.accept(packet, nowMs));
    } else if (codec === undefined || !this.#isListening) {
      this.#isVoiceBefore = false;
    } else {
      const ticksPerSample = CODECS[codec].clockRateHz / LINE_RATE_HZ;
      if (isRestart || ticksPerSample !== this.#ticksPerSample) this.#nextTimestamp = Number.NaN;
      this.#ticksPerSample = ticksPerSample;
      this.#fillGap(codec, packet, isAfterLoss, nowMs);
      this.#hearVoice(codec, packet, nowMs);
    }
  }

  #hearVoice(codec: CodecName, packet: PacketInHand | RtpPacket, nowMs: number): void {
    const pcm = this.#decode(codec, packet);
    this.#nextTimestamp = (packet.timestamp + pcm.length * this.#ticksPerSample) >>> 0;
    this.#packetMs = (pcm.length * 1000) / LINE_RATE_HZ;
    this.#isVoiceBefore = this.#digits?.isPressed !== true;
    if (codec !== 'opus') this.#concealment.hear(pcm);
    this.#passRead(pcm, nowMs, false);
  }

  /** Decodes into memory that is reused for the next packet. */
  #decode(codec: CodecName, packet: PacketInHand | RtpPacket): Int16Array {
    if (!isG711(codec)) return this.#decodeInTurn(codec, packet.payload);
    const isUsual = packet instanceof PacketInHand && packet.payloadBytes === FRAME_SAMPLES;
    const pcm = isUsual ? usualPcm : new Int16Array(packet.payload.length);
    // A key's tone besides its reports is not speech.
    if (this.#digits?.isPressed) pcm.fill(0);
    else if (isUsual) decodeG711Into(codec, packet.datagram, pcm, packet.payloadAt);
    else decodeG711Into(codec, packet.payload, pcm);
    return pcm;
  }

  /** Decodes by a codec with state, which needs every packet; while a key is pressed, the result is silence. */
  #decodeInTurn(codec: 'G722' | 'opus', payload: Uint8Array): Int16Array {
    const decoder = codec === 'opus' ? this.#opus : this.#g722;
    const pcm = decoder?.decode(payload) ?? new Int16Array(FRAME_SAMPLES);
    return this.#digits?.isPressed ? pcm.fill(0) : pcm;
  }

  /** Fills a gap in the timestamps, less the silence that the clock has inserted. */
  #fillGap(codec: CodecName, packet: RtpPacket, isLost: boolean, nowMs: number): void {
    const gapTicks = (packet.timestamp - this.#nextTimestamp) | 0;
    const gap = Math.trunc(gapTicks / this.#ticksPerSample);
    const missing = gap - this.#silenceByClockSamples;
    this.#silenceByClockSamples = 0;
    this.#isSilentByClock = false;
    if (gap > GAP_SAMPLES_MAX || !(missing > 0)) return;
    const isConcealed = isLost && this.#isVoiceBefore;
    const pcm = isConcealed ? this.#conceal(codec, missing, packet) : this.#silence(missing);
    this.#passRead(pcm, nowMs, isConcealed);
  }

  /** Conceals as the codec of the packet after the loss does: G.711 may come where Opus is agreed. */
  #conceal(codec: CodecName, samples: number, { payload }: RtpPacket): Int16Array {
    return codec === 'opus' && this.#opus !== undefined
      ? this.#opus.conceal(samples, payload)
      : this.#concealment.conceal(samples);
  }

  /** Inserts silence by the clock: silence suppression looks the same as a loss that is too long to conceal. */
  #fillByClock(nowMs: number): void {
    const isExpecting = this.#isListening && !this.#isSilentByClock;
    const patienceMs = isExpecting ? this.#packetMs + OVERDUE_MS : CLOCK_LAG_MS;
    if (nowMs - this.#heardUntilMs < patienceMs || this.#order.isHolding) return;
    this.#isSilentByClock = true;
    this.#heardUntilMs = Math.max(this.#heardUntilMs, nowMs - STALL_MS_MAX);
    while (nowMs - this.#heardUntilMs >= CLOCK_LAG_MS) {
      this.#silenceByClockSamples += FRAME_SAMPLES;
      this.#pass(this.#silence(FRAME_SAMPLES), this.#heardUntilMs + FRAME_MS);
    }
  }

  #silence(samples: number): Int16Array {
    this.#concealment.forget();
    return samples === FRAME_SAMPLES ? SILENCE : new Int16Array(samples);
  }

  #passRead(pcm: Int16Array, nowMs: number, isConcealed: boolean): void {
    this.#pass(pcm, this.stalls.placeOf(pcm.length, this.#heardUntilMs, nowMs), isConcealed);
  }

  #pass(pcm: Int16Array, atMs: number, isConcealed = false): void {
    this.#heardUntilMs = atMs;
    this.#session.hear(pcm, atMs, isConcealed);
  }
}

/** A longer time between ticks means that the thread stalled and packets may wait in the socket. */
const TICK_APART_MS_MAX = 2 * FRAME_MS + 1;

/** Sound that is further behind has no place right after the sound before it: a suspended machine. */
const BEHIND_MS_MAX = 5000;

/** One session's. Its ticks are due every 20 ms. */
class StallWatch {
  #tickedAtMs = Number.NEGATIVE_INFINITY;
  /** Instant of the ticks that follow a stall. */
  #stalledAtMs = Number.NEGATIVE_INFINITY;

  /** Call it before the first tick. */
  start(nowMs: number): void {
    this.#tickedAtMs = nowMs;
  }

  /**
   * Notes a tick. @returns whether the thread stalled before it: packets may then be unread, and none counts as missing yet. Missed
   * ticks run at one instant; the sockets are read before the next.
   */
  tick(nowMs: number): boolean {
    if (this.#isLate(nowMs)) this.#stalledAtMs = nowMs;
    this.#tickedAtMs = nowMs;
    return nowMs === this.#stalledAtMs;
  }

  /**
   * Instant at which sound ends that is read or sent now: now or, where the thread was late with it, right after the sound
   * before it, which ended at `untilMs`.
   */
  placeOf(samples: number, untilMs: number, nowMs: number): number {
    const isLate = this.#isLate(nowMs) || nowMs - this.#stalledAtMs < FRAME_MS;
    if (!isLate || nowMs - untilMs > BEHIND_MS_MAX) return nowMs;
    return Math.min(nowMs, untilMs + (samples * 1000) / LINE_RATE_HZ);
  }

  #isLate(nowMs: number): boolean {
    return nowMs - this.#tickedAtMs > TICK_APART_MS_MAX;
  }
}

/** Sending half of an RTP session: a packet of speech, silence or DTMF every 20 ms; a reply's first packet leaves at once. */
import { CODECS, type CodecName, isG711 } from '../../rtp/codecs.ts';
import { DtmfSender } from '../../rtp/dtmf.ts';
import {
  RTP_HEADER_BYTES,
  type RtpPacket,
  sequenceDistance,
  writeRtpHeader,
} from '../../rtp/packet.ts';
import type { AgreedMedia } from '../../rtp/sdp-answer.ts';
import { type AudioEvent, FRAME_MS, FRAME_SAMPLES, LINE_RATE_HZ } from '../audio-stream.ts';
import { G722Encoder } from '../codecs/g722.ts';
import { OpusEncoder } from '../codecs/opus.ts';
import { encodeG711Into, type G711Law, SILENCE_BYTE, transcodeG711Into } from '../dsp/g711.ts';
import { keyToneFrame } from '../dsp/in-band-dtmf.ts';

import { type Paced, type Pacer, SendSchedule } from '../worker/pacer.ts';
import { type Mixer, SoundQueue } from './mixer.ts';
import {
  BackgroundLoop,
  bytePacketizer,
  type CutPacket,
  opusPacketizer,
  type Packetizer,
  type StreamPlace,
  StreamSplice,
} from './packetizer.ts';
import { type FinishedReply, Playout, SpeechMemory } from './playout.ts';

/** The RTP session that a sender sends for; the pacer knows it. */
export interface SendingSession extends Paced {
  /** Puts a datagram on the network. Its memory is reused afterwards. */
  transmit(datagram: Uint8Array): void;

  emit(event: AudioEvent): void;

  /** Ends the session: a part of it cannot go on. */
  fail(error: unknown): void;

  /** Receives the sound that the far end hears. Its memory is reused afterwards. */
  overhear(pcm: Int16Array, nowMs: number): void;
}

/** A frame of silence, 20 ms. */
export const SILENT_FRAME: Int16Array = new Int16Array(FRAME_SAMPLES);

/** Frame and packet under way, shared by all sessions of the thread, so that they stay in the processor's cache. */
const frame = new Int16Array(FRAME_SAMPLES);
const usualDatagram = new Uint8Array(RTP_HEADER_BYTES + FRAME_SAMPLES);
const header = { payloadType: 0, hasMarker: false, sequence: 0, timestamp: 0, ssrc: 0 };

/** Shared by all sessions of the thread. */
const speechMemory = new SpeechMemory();

/** Pause in a forwarded stream after which silence of our own is sent, in milliseconds. */
const FORWARD_PAUSE_MS = 200;

/** Most delay of sound that is passed on from another session. */
const RELAY_LATE_MS_MAX = 60;

/** Silence and DTMF leave every 20 ms, the first packet of a talkspurt as soon as there is speech. */
export class RtpSender {
  readonly playout = new Playout(speechMemory);
  readonly ssrc: number;
  readonly #session: SendingSession;
  readonly #schedule: SendSchedule;
  /** Created by the first key. */
  #digits: DtmfSender | undefined;
  readonly #splice = new StreamSplice();
  readonly #background = new BackgroundLoop();
  #codec: CodecName = 'PCMU';
  #payloadType = 0;
  #digitPayloadType: number | undefined;
  #digitClockHz: number | undefined;
  /** Ticks of the RTP clock per sample of the line. */
  #ticksPerSample = 1;
  /** Undefined for other codecs; G.711 has no state. */
  #g722: G722Encoder | undefined;
  #opus: OpusEncoder | undefined;
  #opusPackets: Packetizer<Int16Array> | undefined;
  #maySend = false;
  #sequence: number;
  /** 32 bits, signed: V8 stores it without an object. */
  #timestamp: number;
  #packetsSent = 0;
  #packetsUnsent = 0;
  #bytesSent = 0;
  #isTalking = false;
  #isSpliced = false;
  #forwardedAtMs = Number.NEGATIVE_INFINITY;
  #mixer: Mixer | undefined;
  /** Sound of another session to pass on; created by the first of it. */
  #relayed: SoundQueue | undefined;
  /** Undefined for packets of 20 ms, and for Opus. */
  #packets: Packetizer<Uint8Array> | undefined;
  /** Key of the settings that the encoder was made for. */
  #encoding = '';
  #toneAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    session: SendingSession,
    options: { readonly pacer: Pacer; readonly nextUint32: () => number },
  ) {
    const { pacer, nextUint32 } = options;
    this.#session = session;
    this.#schedule = new SendSchedule(session, pacer);
    this.ssrc = nextUint32();
    // The upper half is left out, so that no SRTP stream rolls over before its first packets arrive. RFC 3711, 3.3.1.
    this.#sequence = nextUint32() & 0x7fff;
    this.#timestamp = nextUint32() | 0;
  }

  /** Packets that the system accepted. */
  get packetsSent(): number {
    return this.#packetsSent;
  }

  /** Packets that the system did not accept. */
  get packetsUnsent(): number {
    return this.#packetsUnsent;
  }

  /** Counts a sent packet as unsent; its sequence number stays used. @param bytes length of the packet. */
  countUnsent(bytes: number): void {
    this.#packetsSent -= 1;
    this.#packetsUnsent += 1;
    this.#bytesSent -= bytes - RTP_HEADER_BYTES;
  }

  /** Figures for a sender report (RTCP SR). */
  get progress(): { timestamp: number; packetsSent: number; bytesSent: number } {
    const { packetsSent } = this;
    return { timestamp: this.#timestamp >>> 0, packetsSent, bytesSent: this.#bytesSent };
  }

  /** Codec of both directions. */
  get codec(): CodecName {
    return this.#codec;
  }

  setRemote(agreed: AgreedMedia): void {
    this.#flush();
    const { codec, ptimeMs = FRAME_MS, opus, srtp } = agreed;
    // With unchanged settings the encoder keeps its state.
    const encoding = JSON.stringify([codec, ptimeMs, opus, srtp !== undefined]);
    if (encoding !== this.#encoding) this.#setCodec(agreed, ptimeMs);
    this.#encoding = encoding;
    this.#payloadType = agreed.payloadType;
    this.#digitPayloadType = agreed.telephoneEventPayloadType;
    this.#digitClockHz = agreed.telephoneEventClockHz;
    this.#maySend = agreed.maySend;
  }

  #setCodec({ codec, opus, srtp }: AgreedMedia, ptimeMs: number): void {
    this.close();
    this.#codec = codec;
    // The timestamps go on from where they are, at the new rate. RFC 7160, 4.
    this.#ticksPerSample = CODECS[codec].clockRateHz / LINE_RATE_HZ;
    const isWhole = ptimeMs === FRAME_MS || codec === 'opus';
    this.#packets = isWhole ? undefined : bytePacketizer(ptimeMs);
    this.#g722 = codec === 'G722' ? new G722Encoder() : undefined;
    if (codec !== 'opus' || opus === undefined) return;
    const [isConstant, onFault] = [srtp !== undefined, this.#session.fail.bind(this.#session)];
    this.#opus = new OpusEncoder({ ...opus, isConstant, onFault });
    this.#opusPackets = opusPacketizer(this.#opus, ptimeMs);
  }

  /** Releases the encoder's memory. Safe to call twice. */
  close(): void {
    this.#opus?.close();
    this.#opus = undefined;
    this.#opusPackets = undefined;
  }

  /** Instant of the newest tone that was sent. */
  get toneAtMs(): number {
    return this.#toneAtMs;
  }

  /** Sends DTMF digits: as telephone-event, or as tones where the far end did not agree to that. */
  sendDigits(digits: string): void {
    this.#digits ??= new DtmfSender();
    this.#digits.add(digits);
  }

  /** Loops a sound in place of silence; undefined ends it. */
  setBackground(pcm: Int16Array | undefined): void {
    this.#background.set(pcm);
  }

  /** Mixes another session's sound into the sent sound; undefined ends it. */
  setMixer(mixer: Mixer | undefined): void {
    this.#mixer = mixer;
  }

  /**
   * Forwards another session's packet with this stream's sequence numbers and timestamps, unless a reply is playing. Both
   * sessions have G.711.
   */
  forward(packet: RtpPacket, content: G711Law | 'key', nowMs: number): void {
    if (!isG711(this.#codec) || !this.#maySend || this.#isTalking || this.#digits?.isBusy) return;
    this.#flush();
    const payloadType = content === 'key' ? this.#digitPayloadType : this.#payloadType;
    const ours = { sequence: this.#sequence, timestamp: this.#timestamp >>> 0 };
    const place = payloadType === undefined ? undefined : this.#splice.place(packet, ours);
    if (place === undefined || payloadType === undefined) return;
    const { payload } = packet;
    const datagram = Buffer.allocUnsafe(RTP_HEADER_BYTES + payload.length);
    if (content === 'key') datagram.set(payload, RTP_HEADER_BYTES);
    else {
      transcodeG711Into({ from: content, to: this.#codec }, payload, datagram, RTP_HEADER_BYTES);
    }
    const hasMarker = packet.hasMarker || place.isNew;
    this.#isSpliced = true;
    this.#forwardedAtMs = nowMs;
    // The other clock may be faster; our own packets must not lie before the forwarded ones.
    if (((place.timestamp - this.#timestamp) | 0) > 0) this.#timestamp = place.timestamp | 0;
    this.#transmit(datagram, payloadType, hasMarker, place);
  }

  /** Takes the sound of forwarded packets, decoded and in order, for the recording and live listeners. */
  forwarded(pcm: Int16Array, atMs: number): void {
    const isSent = !this.#isTalking && atMs - this.#forwardedAtMs < FORWARD_PAUSE_MS;
    if (isSent) this.#session.overhear(pcm, atMs);
  }

  /** Passes on another session's sound, decoded and in order, at this stream's pace, unless a reply is playing. */
  relay(pcm: Int16Array): void {
    this.#relayed ??= new SoundQueue({ lateMsMax: RELAY_LATE_MS_MAX });
    this.#relayed.push(pcm);
  }

  /** Starts the talkspurt now if there is speech and the schedule allows it. */
  startTalking(nowMs: number): void {
    if (this.#isTalking || !this.#maySend || this.#digits?.isBusy) return;
    if (!this.playout.hasAudio) return;
    if (this.#schedule.startNow()) this.#talk(nowMs);
  }

  /** Sends the packet that is due. Called every 20 ms. */
  tick(nowMs: number): void {
    if (this.#maySend && this.#digits?.isBusy) this.#sendKey(nowMs);
    else if (this.#maySend && this.playout.hasAudio) this.#talk(nowMs);
    else {
      this.#isTalking = false;
      if (!this.#schedule.waitIfAhead()) this.#beSilent(nowMs);
    }
  }

  #talk(nowMs: number): void {
    const { playout } = this;
    const { generation } = playout;
    const isFirst = playout.playedMs === 0;
    if (generation === undefined || !playout.takeInto(frame)) return;
    this.#sendFrame(frame, nowMs, !this.#isTalking);
    this.#isTalking = true;
    if (isFirst) this.#session.emit({ kind: 'playout-started', generation, atMs: nowMs });
    this.report(playout.endIfPlayed());
  }

  /** Emits `playout-finished` for a reply that is over. */
  report(finished: FinishedReply | undefined): void {
    if (finished !== undefined) this.#session.emit({ kind: 'playout-finished', ...finished });
  }

  #beSilent(nowMs: number): void {
    if (this.#maySend && this.#takeRelayed()) this.#sendFrame(frame, nowMs, false);
    else if (this.#maySend && nowMs - this.#forwardedAtMs >= FORWARD_PAUSE_MS) {
      this.#sendFrame(this.#background.next() ?? SILENT_FRAME, nowMs, false);
    } else {
      this.#flush();
      this.#advance();
    }
  }

  /** Takes 20 ms of another session's sound into `frame`. @returns whether there was any. */
  #takeRelayed(): boolean {
    if (this.#relayed === undefined) return false;
    frame.fill(0);
    return this.#relayed.mixInto(frame);
  }

  #sendFrame(words: Int16Array, nowMs: number, hasMarker: boolean): void {
    const pcm = this.#mixer === undefined ? words : this.#mixer.say(words);
    if (this.#opusPackets === undefined) this.#sendBytes(pcm, hasMarker);
    else this.#sendAll(this.#opusPackets.add(pcm, this.#timestamp, hasMarker));
    this.#advance();
    this.#session.overhear(pcm, nowMs);
  }

  /** Sends a frame of a codec that has a byte a sample. */
  #sendBytes(pcm: Int16Array, hasMarker: boolean): void {
    if (this.#g722 !== undefined) this.#g722.encodeInto(pcm, usualDatagram, RTP_HEADER_BYTES);
    else encodeFrame(this.#codec === 'PCMA' ? 'PCMA' : 'PCMU', pcm);
    if (this.#packets === undefined) this.#send(usualDatagram, this.#payloadType, hasMarker, 0);
    else {
      const payload = usualDatagram.subarray(RTP_HEADER_BYTES);
      this.#sendAll(this.#packets.add(payload, this.#timestamp, hasMarker));
    }
  }

  #sendAll(packets: readonly CutPacket[]): void {
    for (const packet of packets) this.#sendCut(packet);
  }

  /** Moves the timestamp on by one frame. */
  #advance(): void {
    this.#timestamp = (this.#timestamp + FRAME_SAMPLES * this.#ticksPerSample) | 0;
  }

  /** Sends an incomplete packet, because other sound follows. */
  #flush(): void {
    const rest = (this.#opusPackets ?? this.#packets)?.flush();
    if (rest !== undefined && this.#maySend) this.#sendCut(rest);
  }

  #sendCut({ payload, timestamp, hasMarker }: CutPacket): void {
    const datagram = new Uint8Array(RTP_HEADER_BYTES + payload.length);
    datagram.set(payload, RTP_HEADER_BYTES);
    this.#send(datagram, this.#payloadType, hasMarker, this.#timestamp - timestamp);
  }

  /** Sends a key, or the silence after it, in place of the reply, which waits. */
  #sendKey(nowMs: number): void {
    this.#isTalking = false;
    const key = this.#digits?.next(this.#digitClockHz);
    if (key === undefined) {
      this.#sendFrame(SILENT_FRAME, nowMs, false);
      return;
    }
    if (this.#digitPayloadType === undefined) {
      this.#toneAtMs = nowMs;
      this.#sendFrame(keyToneFrame(key.digit, key.timestampOffset), nowMs, false);
      return;
    }
    this.#flush();
    const datagram = usualDatagram.subarray(0, RTP_HEADER_BYTES + key.payload.length);
    datagram.set(key.payload, RTP_HEADER_BYTES);
    const ageTicks = key.timestampOffset * this.#ticksPerSample;
    this.#send(datagram, this.#digitPayloadType, key.hasMarker, ageTicks);
    this.#advance();
    this.#session.overhear(SILENT_FRAME, nowMs);
  }

  #send(datagram: Uint8Array, payloadType: number, hasMarker: boolean, ageTicks: number): void {
    if (this.#isSpliced) this.#splice.cut();
    this.#isSpliced = false;
    header.sequence = this.#sequence;
    header.timestamp = (this.#timestamp - ageTicks) >>> 0;
    this.#transmit(datagram, payloadType, hasMarker, header);
  }

  #transmit(
    datagram: Uint8Array,
    payloadType: number,
    hasMarker: boolean,
    { sequence, timestamp }: StreamPlace,
  ): void {
    header.payloadType = payloadType;
    header.hasMarker = hasMarker;
    header.sequence = sequence;
    header.timestamp = timestamp;
    header.ssrc = this.ssrc;
    writeRtpHeader(datagram, header);
    // A forwarded packet may be a late one, whose number lies behind.
    if (sequenceDistance(this.#sequence, sequence) >= 0) this.#sequence = (sequence + 1) & 0xffff;
    this.#packetsSent += 1;
    this.#bytesSent += datagram.length - RTP_HEADER_BYTES;
    this.#session.transmit(datagram);
  }
}

/** Encodes a frame into the packet under way. */
function encodeFrame(law: G711Law, pcm: Int16Array): void {
  if (pcm === SILENT_FRAME) usualDatagram.fill(SILENCE_BYTE[law], RTP_HEADER_BYTES);
  else encodeG711Into(law, pcm, usualDatagram, RTP_HEADER_BYTES);
}

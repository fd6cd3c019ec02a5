/** The talking half of a session: every 20 ms a packet of speech, silence or a key, timed so that replies start at once. */

import { DtmfSender } from '../../rtp/dtmf-receiver.ts';
import {
  RTP_HEADER_BYTES,
  type RtpPacket,
  sequenceDistance,
  writeRtpHeader,
} from '../../rtp/packet.ts';
import type { AgreedMedia, CodecName } from '../../rtp/sdp-answer.ts';
import { FRAME_SAMPLES } from '../audio-stream.ts';
import { SpeechMemory } from '../buffers/speech-ring.ts';
import { BackgroundLoop, type StreamPlace, StreamSplice } from '../buffers/stream-splice.ts';
import { encodeG711Into, SILENCE_BYTE, transcodeG711Into } from '../dsp/g711.ts';
import type { Pacer } from '../worker/pacer.ts';
import { SendSchedule } from '../worker/send-schedule.ts';
import type { Mixer } from './mixer.ts';
import { type FinishedReply, Playout } from './playout.ts';
import type { TalkingSession } from './talking-session.ts';

export const SILENT_FRAME: Int16Array = new Int16Array(FRAME_SAMPLES);

/** The frame and the packet in hand. All sessions share them, so that they stay in the processor's nearest memory. */
const frame = new Int16Array(FRAME_SAMPLES);
const usualDatagram = new Uint8Array(new ArrayBuffer(RTP_HEADER_BYTES + FRAME_SAMPLES));
const datagramWords = new Int32Array(usualDatagram.buffer);
const PAYLOAD_AT_WORD = RTP_HEADER_BYTES / Int32Array.BYTES_PER_ELEMENT;
const header = { payloadType: 0, hasMarker: false, sequence: 0, timestamp: 0, ssrc: 0 };

/** Of all sessions of the thread. */
const speechMemory = new SpeechMemory({ piecePlaces: 64 });

/** While another session's sound comes, its pauses are its own; after so much of one, we fill in. */
const FORWARD_PAUSE_MS = 200;

/** Silence and keys go out on the beat, speech as soon as there is some. */
export class RtpSender {
  readonly playout = new Playout(speechMemory);
  readonly ssrc: number;
  readonly #session: TalkingSession;
  readonly #beat: SendSchedule;
  /** Made by the first key: each thing to be fetched costs, with hundreds of sessions. */
  #digits: DtmfSender | undefined;
  readonly #splice = new StreamSplice();
  readonly #background = new BackgroundLoop();
  #codec: CodecName = 'PCMU';
  #payloadType = 0;
  #digitPayloadType: number | undefined;
  #maySend = false;
  #sequence: number;
  /** 32 bits as a signed number, for which no object has to be made. */
  #timestamp: number;
  #packetsSent = 0;
  #packetsUnsent = 0;
  #bytesSent = 0;
  #isTalking = false;
  #isSpliced = false;
  #forwardedAtMs = Number.NEGATIVE_INFINITY;
  #mixer: Mixer | undefined;

  constructor(
    session: TalkingSession,
    options: { readonly pacer: Pacer; readonly nextUint32: () => number },
  ) {
    const { pacer, nextUint32 } = options;
    this.#session = session;
    this.#beat = new SendSchedule(session, pacer);
    this.ssrc = nextUint32();
    this.#sequence = nextUint32() & 0xffff;
    this.#timestamp = nextUint32() | 0;
  }

  /** Packets that the system took. */
  get packetsSent(): number {
    return this.#packetsSent;
  }

  /** Packets that were due and that the system did not take. */
  get packetsUnsent(): number {
    return this.#packetsUnsent;
  }

  /** Takes back the count of a packet that the system did not take; its sequence number stays used. */
  countUnsent(datagram: Uint8Array): void {
    this.#packetsSent -= 1;
    this.#packetsUnsent += 1;
    this.#bytesSent -= datagram.length - RTP_HEADER_BYTES;
  }

  /** The figures of a sender report. */
  get progress(): { timestamp: number; packetsSent: number; bytesSent: number } {
    const { packetsSent } = this;
    return { timestamp: this.#timestamp >>> 0, packetsSent, bytesSent: this.#bytesSent };
  }

  setRemote(agreed: AgreedMedia): void {
    this.#codec = agreed.codec;
    this.#payloadType = agreed.payloadType;
    this.#digitPayloadType = agreed.telephoneEventPayloadType;
    this.#maySend = agreed.maySend;
  }

  /** Spells digits out; ignored where the far end does not take them. */
  sendDigits(digits: string): void {
    if (this.#digitPayloadType === undefined) return;
    this.#digits ??= new DtmfSender();
    this.#digits.add(digits);
  }

  /** Plays a tone over and over wherever there is nothing else to say, or no longer. */
  setBackground(pcm: Int16Array | undefined): void {
    this.#background.set(pcm);
  }

  /** Mixes what is said here with another session's sound; with none, no more. */
  setMixer(mixer: Mixer | undefined): void {
    this.#mixer = mixer;
  }

  /** Sends on what another session has heard, in this stream's numbers, unless we talk ourselves. */
  forward(packet: RtpPacket, content: CodecName | 'key', nowMs: number): void {
    if (!this.#maySend || this.#isTalking || this.#digits?.isBusy) return;
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
    // The other clock may be the faster one; what we say after it shall not lie before it.
    if (((place.timestamp - this.#timestamp) | 0) > 0) this.#timestamp = place.timestamp | 0;
    this.#transmit(datagram, payloadType, hasMarker, place);
  }

  /** Takes the sound that `forward` sends on, decoded and in order: for the recording and for whoever listens in. */
  forwarded(pcm: Int16Array, atMs: number): void {
    const isSent = !this.#isTalking && atMs - this.#forwardedAtMs < FORWARD_PAUSE_MS;
    if (isSent) this.#session.overhear(pcm, atMs);
  }

  /** Starts the talkspurt now if there is something to say and the session's beat may move. */
  startTalking(nowMs: number): void {
    if (this.#isTalking || !this.#maySend || this.#digits?.isBusy) return;
    if (!this.playout.hasAudio) return;
    if (this.#beat.startNow()) this.#talk(nowMs);
  }

  /**
   * Sends what is due. Called by the pacer every 20 ms.
   *
   * @param heardAtMs when the caller's last packet came.
   */
  tick(nowMs: number, heardAtMs: number): void {
    if (this.#maySend && this.#digits?.isBusy) this.#sendKey(nowMs);
    else if (this.#maySend && this.playout.hasAudio) this.#talk(nowMs);
    else {
      this.#isTalking = false;
      if (this.#beat.waitIfAhead()) return;
      this.#beSilent(nowMs);
    }
    this.#beat.follow(nowMs - heardAtMs);
  }

  #talk(nowMs: number): void {
    const { playout } = this;
    const { generation } = playout;
    const isFirst = playout.playedMs === 0;
    if (generation === undefined || !this.#sendWords(nowMs)) return;
    this.#isTalking = true;
    if (isFirst) this.#session.emit({ kind: 'playout-started', generation, atMs: nowMs });
    this.report(playout.endIfPlayed());
  }

  /** Sends the reply's next frame, if it has one. */
  #sendWords(nowMs: number): boolean {
    const { playout } = this;
    const isTaken =
      this.#mixer === undefined &&
      !this.#session.isOverheard &&
      playout.takeEncoded(this.#codec, datagramWords, PAYLOAD_AT_WORD);
    if (isTaken) this.#sendPayload(!this.#isTalking);
    else if (playout.takeInto(frame)) this.#sendFrame(frame, nowMs, !this.#isTalking);
    else return false;
    return true;
  }

  /** Tells that a reply is over, if it is. */
  report(finished: FinishedReply | undefined): void {
    if (finished !== undefined) this.#session.emit({ kind: 'playout-finished', ...finished });
  }

  #beSilent(nowMs: number): void {
    if (this.#maySend && nowMs - this.#forwardedAtMs >= FORWARD_PAUSE_MS) {
      this.#sendFrame(this.#background.next() ?? SILENT_FRAME, nowMs, false);
    } else {
      this.#timestamp = (this.#timestamp + FRAME_SAMPLES) | 0;
    }
  }

  #sendFrame(words: Int16Array, nowMs: number, hasMarker: boolean): void {
    const pcm = this.#mixer === undefined ? words : this.#mixer.say(words);
    if (pcm === SILENT_FRAME) usualDatagram.fill(SILENCE_BYTE[this.#codec], RTP_HEADER_BYTES);
    else encodeG711Into(this.#codec, pcm, usualDatagram, RTP_HEADER_BYTES);
    this.#sendPayload(hasMarker);
    this.#session.overhear(pcm, nowMs);
  }

  /** Sends the datagram in hand, whose payload has been written. */
  #sendPayload(hasMarker: boolean): void {
    this.#send(usualDatagram, this.#payloadType, hasMarker, 0);
    this.#timestamp = (this.#timestamp + FRAME_SAMPLES) | 0;
  }

  /** Sends a key's report in place of audio; the reply under way waits meanwhile. */
  #sendKey(nowMs: number): void {
    this.#isTalking = false;
    const key = this.#digits?.next();
    if (key !== undefined && this.#digitPayloadType !== undefined) {
      const datagram = usualDatagram.subarray(0, RTP_HEADER_BYTES + key.payload.length);
      datagram.set(key.payload, RTP_HEADER_BYTES);
      this.#send(datagram, this.#digitPayloadType, key.hasMarker, key.timestampOffset);
    }
    this.#timestamp = (this.#timestamp + FRAME_SAMPLES) | 0;
    this.#session.overhear(SILENT_FRAME, nowMs);
  }

  #send(datagram: Uint8Array, payloadType: number, hasMarker: boolean, ageSamples: number): void {
    if (this.#isSpliced) this.#splice.cut();
    this.#isSpliced = false;
    header.sequence = this.#sequence;
    header.timestamp = (this.#timestamp - ageSamples) >>> 0;
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
    // A packet that is sent on may be a late one, whose number lies behind.
    if (sequenceDistance(this.#sequence, sequence) >= 0) this.#sequence = (sequence + 1) & 0xffff;
    this.#packetsSent += 1;
    this.#bytesSent += datagram.length - RTP_HEADER_BYTES;
    this.#session.transmit(datagram);
  }
}

/** The sound of the example telephone: G.711 over RTP, a packet every 20 ms, and all that is heard kept with its time. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { systemClock } from '../../src/lib/clock.ts';
import { decodeG711, encodeG711, type G711Law, SILENCE_BYTE } from '../../src/media/dsp/g711.ts';
import { DtmfDetector, keyToneFrame } from '../../src/media/dsp/in-band-dtmf.ts';
import { levelDbfs } from '../../src/media/dsp/level-meter.ts';
import { isG711 } from '../../src/rtp/codecs.ts';
import { DtmfReceiver, DtmfSender } from '../../src/rtp/dtmf.ts';
import { parseRtp, writeRtp } from '../../src/rtp/packet.ts';
import type { AgreedMedia } from '../../src/rtp/sdp-answer.ts';
import { SrtpReceiver, SrtpSender } from '../../src/rtp/srtp/srtp-stream.ts';

const FRAME_MS = 20;
const FRAME_SAMPLES = 160;

/** Louder than this is a voice and not the noise of the line. */
const VOICE_DBFS = -45;

/** Half an hour; what comes later is heard but not kept. */
const HEARD_PACKETS_MAX = 90_000;

/** One packet that came. Instants are those of `systemClock`, so that processes of one machine agree. */
export interface HeardPacket {
  readonly atMs: number;
  /** In samples, from an arbitrary beginning. */
  readonly timestamp: number;
  /** 8 kHz, mono. */
  readonly pcm: Int16Array;
  readonly isVoiced: boolean;
}

export interface Spoken {
  readonly startedAtMs: number;
  /** When the last packet that was louder than silence left: what reply times are counted from. */
  readonly lastVoicedAtMs: number;
  readonly endedAtMs: number;
}

interface Speech {
  readonly pcm: Int16Array;
  readonly resolve: (spoken: Spoken) => void;
  sentSamples: number;
  startedAtMs: number;
  lastVoicedAtMs: number;
}

export class PhoneLine {
  /** All that was heard, oldest first. */
  readonly heard: HeardPacket[] = [];
  /** Keys that the far end has pressed, by their tones where telephone-event was not agreed. */
  digits = '';
  readonly #socket: Socket = createSocket('udp4');
  readonly #ssrc = Math.floor(Math.random() * 2 ** 32);
  readonly #digitSender = new DtmfSender();
  readonly #digitReceiver = new DtmfReceiver();
  readonly #keyTones = new DtmfDetector();
  readonly #listeners: ((packet: HeardPacket) => void)[] = [];
  readonly #startedAtMs = systemClock.nowMs();
  #speeches: Speech[] = [];
  #agreed: AgreedMedia | undefined;
  #law: G711Law = 'PCMU';
  /** Undefined for plain RTP. */
  #srtp: { readonly sender: SrtpSender; readonly receiver: SrtpReceiver } | undefined;
  #sentFrames = 0;
  /** Frame in which the newest key was pressed. */
  #pressedAtFrame = 0;
  #hasMarker = true;
  #timer: NodeJS.Timeout | undefined;
  #answer: ((pcm: Int16Array) => Int16Array) | undefined;
  #isClosed = false;

  /** Opens any free port of `address`. */
  async open(address: string): Promise<void> {
    this.#socket.on('message', (datagram) => this.#receive(datagram, systemClock.nowMs()));
    this.#socket.bind(0, address);
    await once(this.#socket, 'listening');
  }

  get port(): number {
    return this.#socket.address().port;
  }

  /** Whether what is sent and heard is SRTP. */
  get isEncrypted(): boolean {
    return this.#srtp !== undefined;
  }

  onPacket(listener: (packet: HeardPacket) => void): void {
    this.#listeners.push(listener);
  }

  /** Begins to send, silence at first, or sends elsewhere from now on. */
  connect(agreed: AgreedMedia): void {
    const keys = agreed.srtp;
    if (keys === undefined) this.#srtp = undefined;
    else if (keys.send.inline !== this.#agreed?.srtp?.send.inline) {
      this.#srtp = {
        sender: new SrtpSender(keys.send),
        receiver: new SrtpReceiver(keys.receive),
      };
    }
    if (!isG711(agreed.codec)) {
      throw new TypeError(`Cannot connect the telephone: it has G.711, not "${agreed.codec}"`);
    }
    this.#law = agreed.codec;
    this.#agreed = agreed;
    if (this.#timer === undefined) this.#tick();
  }

  /** Speaks after what is being spoken already; resolves when the last packet has left, or the line was closed. */
  speak(pcm: Int16Array): Promise<Spoken> {
    return new Promise((resolve) => {
      const speech = { pcm, resolve, sentSamples: 0, startedAtMs: 0, lastVoicedAtMs: 0 };
      if (this.#isClosed) resolve(spokenOf(speech));
      else this.#speeches.push(speech);
    });
  }

  /**
   * From now on sends one packet for each one that comes, with the sound that `answer` makes of it, and nothing else. Where this
   * process is late, so is the packet, but a sound keeps its distance in samples from the one that it answers.
   */
  follow(answer: (pcm: Int16Array) => Int16Array): void {
    clearTimeout(this.#timer);
    this.#answer = answer;
  }

  /** Presses keys, 100 ms each: as telephone-event, or by tones where that was not agreed. */
  press(digits: string): void {
    this.#digitSender.add(digits);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#socket.close();
    for (const speech of this.#speeches) speech.resolve(spokenOf(speech));
    this.#speeches = [];
  }

  /** Sends all frames that are due, by absolute deadlines: a late wake-up never makes the next one later. */
  #tick(): void {
    const dueFrames = Math.floor((systemClock.nowMs() - this.#startedAtMs) / FRAME_MS) + 1;
    // After a long sleep of the process the frames it missed are gone, as on a real line.
    this.#sentFrames = Math.max(this.#sentFrames, dueFrames - 5);
    for (; this.#sentFrames < dueFrames; this.#sentFrames += 1) this.#sendFrame();
    const nextAtMs = this.#startedAtMs + this.#sentFrames * FRAME_MS;
    this.#timer = setTimeout(() => this.#tick(), Math.max(0, nextAtMs - systemClock.nowMs()));
  }

  #sendFrame(): void {
    const isPressing = this.#digitSender.isBusy;
    const press = isPressing ? this.#digitSender.next() : undefined;
    const type = this.#agreed?.telephoneEventPayloadType;
    if (press !== undefined && type !== undefined) {
      // Kept while frames are skipped: with another timestamp it would be another press.
      if (press.hasMarker) this.#pressedAtFrame = this.#sentFrames;
      this.#send(type, press.payload, press.hasMarker, this.#pressedAtFrame);
      return;
    }
    const tone = press && keyToneFrame(press.digit, press.timestampOffset);
    const frame = isPressing && type === undefined ? tone : this.#nextFrame();
    const { payloadType } = this.#agreed ?? { payloadType: 0 };
    const payload =
      frame === undefined
        ? new Uint8Array(FRAME_SAMPLES).fill(SILENCE_BYTE[this.#law])
        : encodeG711(this.#law, frame);
    this.#send(payloadType, payload, this.#hasMarker);
    this.#hasMarker = false;
  }

  /** @param frame whose beginning is the timestamp. */
  #send(
    payloadType: number,
    payload: Uint8Array,
    hasMarker: boolean,
    frame = this.#sentFrames,
  ): void {
    if (this.#agreed?.maySend !== true) return;
    const packet = writeRtp({
      payloadType,
      hasMarker,
      sequence: this.#sentFrames & 0xffff,
      timestamp: (frame * FRAME_SAMPLES) >>> 0,
      ssrc: this.#ssrc,
      payload,
    });
    const sent = this.#srtp === undefined ? packet : this.#srtp.sender.protectRtp(packet);
    if (sent === undefined) return;
    this.#socket.send(sent, this.#agreed.port, this.#agreed.address);
  }

  /** The next 20 ms of what is to be said; undefined in silence. */
  #nextFrame(): Int16Array | undefined {
    const [speech] = this.#speeches;
    if (speech === undefined) return undefined;
    const nowMs = systemClock.nowMs();
    const frame = new Int16Array(FRAME_SAMPLES);
    frame.set(speech.pcm.subarray(speech.sentSamples, speech.sentSamples + FRAME_SAMPLES));
    if (speech.sentSamples === 0) speech.startedAtMs = nowMs;
    if (levelDbfs(frame) > VOICE_DBFS) speech.lastVoicedAtMs = nowMs;
    speech.sentSamples += FRAME_SAMPLES;
    if (speech.sentSamples >= speech.pcm.length) {
      this.#speeches = this.#speeches.slice(1);
      speech.resolve(spokenOf(speech));
    }
    return frame;
  }

  #receive(datagram: Uint8Array, atMs: number): void {
    const plain = this.#srtp === undefined ? datagram : this.#srtp.receiver.unprotectRtp(datagram);
    const packet = plain && parseRtp(plain);
    const agreed = this.#agreed;
    if (packet === undefined || agreed === undefined) return;
    if (packet.payloadType === agreed.telephoneEventPayloadType) {
      const presses = this.#digitReceiver.accept(packet, atMs);
      this.digits += presses.map(({ digit }) => digit).join('');
      return;
    }
    if (packet.payloadType !== agreed.payloadType) return;
    const pcm = decodeG711(this.#law, packet.payload);
    if (agreed.telephoneEventPayloadType === undefined) {
      this.digits += this.#keyTones
        .hear(pcm)
        .map(({ digit }) => digit)
        .join('');
    }
    const isVoiced = levelDbfs(pcm) > VOICE_DBFS;
    const heard = { atMs, timestamp: packet.timestamp, pcm, isVoiced };
    if (this.heard.length < HEARD_PACKETS_MAX) this.heard.push(heard);
    for (const listener of this.#listeners) listener(heard);
    if (this.#answer === undefined) return;
    this.#send(agreed.payloadType, encodeG711(this.#law, this.#answer(pcm)), false);
    this.#sentFrames += 1;
  }
}

function spokenOf({ startedAtMs, lastVoicedAtMs }: Speech): Spoken {
  return { startedAtMs, lastVoicedAtMs, endedAtMs: systemClock.nowMs() };
}

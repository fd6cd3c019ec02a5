/** Opus for a line of 8 kHz, mono, by libopus in WebAssembly; loaded by the first call that has it. */
import type { OpusDecoderHandle, OpusEncoderHandle } from 'libopus-wasm';
import type { OpusSettings } from '../../rtp/codecs.ts';
import { FRAME_SAMPLES, LINE_RATE_HZ } from '../audio-stream.ts';

/** Encoder complexity, of 10. More is not heard at 8 kHz, and costs twice the processor's time at 10. */
const COMPLEXITY = 5;

/** Loss that in-band FEC is spent on: a line without any needs none, and a worse one is heard anyway. */
const EXPECTED_LOSS_PERCENT = 10;

/** Concealment of a longer loss is silence: libopus has faded out by then. */
const CONCEALED_SAMPLES_MAX = 0.2 * LINE_RATE_HZ;

/** Called once when the library cannot be loaded. */
type OnFault = (error: unknown) => void;

/** libopus for one direction of one stream; absent while it is being loaded. Call `close`: its memory is not collected. */
class OpusHandle<Handle extends { free(): void }> {
  #handle: Handle | undefined;
  #isClosed = false;

  constructor(open: Promise<Handle>, onFault: OnFault) {
    open.then((handle) => this.#take(handle), onFault);
  }

  get opened(): Handle | undefined {
    return this.#handle;
  }

  /** Safe to call twice. */
  close(): void {
    this.#isClosed = true;
    this.#handle?.free();
    this.#handle = undefined;
  }

  #take(handle: Handle): void {
    if (this.#isClosed) handle.free();
    else this.#handle = handle;
  }
}

/** Settings of the encoder. */
export interface OpusEncoderOptions extends OpusSettings {
  /** Whether all packets have one length: varying lengths reveal words even under encryption. RFC 6562. */
  readonly isConstant: boolean;
  readonly onFault: OnFault;
}

/** Encodes one stream. @see RFC 6716, RFC 7587 */
export class OpusEncoder {
  readonly #handle: OpusHandle<OpusEncoderHandle>;

  constructor({ onFault, ...settings }: OpusEncoderOptions) {
    this.#handle = new OpusHandle(openEncoder(settings), onFault);
  }

  /** @param pcm 10, 20, 40 or 60 ms. @returns a packet, without sound while libopus is being loaded. */
  encode(pcm: Int16Array): Uint8Array {
    const encoder = this.#handle.opened;
    return encoder === undefined
      ? silentOpus(pcm.length)
      : encoder.encode(pcm, { frameSize: pcm.length });
  }

  close(): void {
    this.#handle.close();
  }
}

/** Decodes one stream of any rate, mono or stereo, to 8 kHz, and conceals its losses. */
export class OpusDecoder {
  readonly #handle: OpusHandle<OpusDecoderHandle>;

  constructor(onFault: OnFault) {
    this.#handle = new OpusHandle(openDecoder(), onFault);
  }

  /** @returns the sound of a packet; one that is no Opus is concealed. */
  decode(payload: Uint8Array): Int16Array {
    const samples = opusSamplesIn(payload);
    const decoder = this.#handle.opened;
    if (decoder === undefined) return new Int16Array(samples ?? FRAME_SAMPLES);
    if (samples === undefined) return decoder.decodePacketLoss(FRAME_SAMPLES);
    try {
      return decoder.decode(payload);
    } catch {
      // The far end's packet is broken: for the listener it is one that was lost.
      return decoder.decodePacketLoss(samples);
    }
  }

  /**
   * @param next the packet after the loss, which may repeat the lost one (in-band FEC); decode it next.
   * @returns concealed sound of that length.
   */
  conceal(samples: number, next: Uint8Array): Int16Array {
    const pcm = new Int16Array(samples);
    const decoder = this.#handle.opened;
    const repeated = opusSamplesIn(next);
    if (decoder === undefined) return pcm;
    const mayRepeat = repeated !== undefined && repeated <= samples;
    const guessed = mayRepeat ? samples - repeated : samples;
    const end = Math.min(guessed, CONCEALED_SAMPLES_MAX);
    for (let at = 0; end - at >= OPUS_STEP_SAMPLES; ) {
      const wanted = Math.min(end - at, FRAME_SAMPLES);
      const step = wanted - (wanted % OPUS_STEP_SAMPLES);
      pcm.set(decoder.decodePacketLoss(step), at);
      at += step;
    }
    if (mayRepeat) pcm.set(repetition(decoder, next, repeated), guessed);
    return pcm;
  }

  close(): void {
    this.#handle.close();
  }
}

function repetition(decoder: OpusDecoderHandle, next: Uint8Array, samples: number): Int16Array {
  try {
    return decoder.decode(next, { decodeFec: true, frameSize: samples });
  } catch {
    // The packet is malformed; its FEC cannot be used.
    return decoder.decodePacketLoss(samples);
  }
}

async function openEncoder(
  settings: Omit<OpusEncoderOptions, 'onFault'>,
): Promise<OpusEncoderHandle> {
  const { Application, createEncoder } = await import('libopus-wasm');
  return createEncoder({
    ...{ sampleRate: LINE_RATE_HZ, channels: 1, frameSize: FRAME_SAMPLES },
    ...{ application: Application.Voip, complexity: COMPLEXITY, bitrate: settings.bitRate },
    ...(settings.hasFec && { fec: true, packetLossPercent: EXPECTED_LOSS_PERCENT }),
    vbr: !settings.isConstant,
  });
}

async function openDecoder(): Promise<OpusDecoderHandle> {
  const { createDecoder } = await import('libopus-wasm');
  return createDecoder({ sampleRate: LINE_RATE_HZ, channels: 1 });
}

/** Opus counts time in steps of 2.5 ms. */
const OPUS_STEP_SAMPLES = LINE_RATE_HZ / 400;

/** Longest packet: 120 ms. */
const STEPS_MAX = 48;

/** Steps of a frame by configuration: SILK, hybrid, CELT. */
const SILK_STEPS = [4, 8, 16, 24];
const HYBRID_STEPS = [4, 8];
const CELT_STEPS = [1, 2, 4, 8];

/**
 * Length of a packet's sound; undefined where it is no Opus.
 *
 *      0 1 2 3 4 5 6 7
 *     +-+-+-+-+-+-+-+-+
 *     | config  |s| c |   c: 1 frame, 2, 2, or the number in the next byte
 *     +-+-+-+-+-+-+-+-+
 *
 * @see RFC 6716 section 3.1
 */
export function opusSamplesIn([first, second = 0]: Uint8Array): number | undefined {
  if (first === undefined) return undefined;
  const count = [1, 2, 2, second & 0x3f][first & 3] as number;
  const steps = count * stepsOf(first >> 3);
  return steps > 0 && steps <= STEPS_MAX ? steps * OPUS_STEP_SAMPLES : undefined;
}

function stepsOf(config: number): number {
  if (config < 12) return SILK_STEPS[config & 3] as number;
  return config < 16 ? (HYBRID_STEPS[config & 1] as number) : (CELT_STEPS[config & 3] as number);
}

/** A packet of that length without sound, as discontinuous transmission has them: narrowband SILK with an empty frame. */
export function silentOpus(samples: number): Uint8Array {
  return Uint8Array.of(Math.max(0, SILK_STEPS.indexOf(samples / OPUS_STEP_SAMPLES)) << 3);
}

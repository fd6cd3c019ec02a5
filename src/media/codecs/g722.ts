/** G.722 at 64 kbit/s for a line of 8 kHz: its lower sub-band is the telephone's, the higher one is sent as silence; pure */
import { G722SubBand } from './g722-sub-band.ts';

/** Code of silence in the higher sub-band: the upper 2 of a byte's 8 bits. */
const SILENT_HIGHER_BAND = 0xc0;

/** The lower 6 bits of a byte are the lower sub-band's. */
const LOWER_BAND = 0x3f;

/**
 * Encodes one stream: a byte for each sample of 8 kHz, which is what two samples of 16 kHz have.
 *
 * @see ITU-T G.722 (09/2012), mode 1
 */
export class G722Encoder {
  readonly #band = new G722SubBand();

  /** Turns samples into bytes, one each, written to `target` from `offset` on. */
  encodeInto(pcm: Int16Array, target: Uint8Array, offset: number): void {
    for (let index = 0; index < pcm.length; index += 1) {
      // A sub-band has 15 bits.
      const code = this.#band.encode((pcm[index] as number) >> 1);
      target[offset + index] = SILENT_HIGHER_BAND | code;
    }
  }
}

/** Decodes one stream to 8 kHz; what the far end sends above 4 kHz is left out. */
export class G722Decoder {
  readonly #band = new G722SubBand();

  /** @returns as many samples as bytes, in memory of their own. */
  decode(payload: Uint8Array): Int16Array {
    const pcm = new Int16Array(payload.length);
    for (let index = 0; index < pcm.length; index += 1) {
      pcm[index] = this.#band.decode((payload[index] as number) & LOWER_BAND) << 1;
    }
    return pcm;
  }
}

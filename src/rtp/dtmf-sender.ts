/** Spells out digits as telephone-event payloads, one packet every 20 ms; pure */
import { eventOf, writeTelephoneEvent } from './telephone-event.ts';

/** What to send now. `timestampOffset` is how many samples ago the press began. */
export interface DtmfPacket {
  readonly payload: Uint8Array;
  readonly hasMarker: boolean;
  readonly timestampOffset: number;
}

/** A minute's worth: more than anyone dials. */
const QUEUE_MAX = 375;

/** One for all, so that nothing has to be fetched for each line to see that it is empty. */
const NO_EVENTS: readonly number[] = [];

const PACKET_SAMPLES = 160;
/** 100 ms: the shortest that every exchange understands, with a margin. */
const PRESS_PACKETS = 5;
/** The end is said three times, so that two may get lost. RFC 4733, 2.5.1.4. */
const END_PACKETS = 3;
/** 60 ms of pause; the two repeated ends fall into it. */
const PAUSE_PACKETS = 1;
const STEPS = PRESS_PACKETS + END_PACKETS + PAUSE_PACKETS - 1;

/** @see RFC 4733 section 2.5.1 */
export class DtmfSender {
  #events = NO_EVENTS;
  #step = 0;

  /** Whether digits are still to be sent. */
  get isBusy(): boolean {
    return this.#events.length > 0;
  }

  /** Adds digits (0-9 * # A-D) to the queue; other characters, and more than a minute's worth, are left out. */
  add(digits: string): void {
    const events = [...digits].map(eventOf).filter((event) => event !== undefined);
    this.#events = [...this.#events, ...events].slice(0, QUEUE_MAX);
  }

  /** What goes out in this 20 ms; undefined in the pause between two digits and when there is none. */
  next(): DtmfPacket | undefined {
    const [event] = this.#events;
    if (event === undefined) return undefined;
    const step = this.#step;
    this.#step = (step + 1) % STEPS;
    if (this.#step === 0) this.#events = this.#events.slice(1);
    return step < STEPS - PAUSE_PACKETS ? packetAt(event, step) : undefined;
  }
}

function packetAt(event: number, step: number): DtmfPacket {
  const spoken = Math.min(step + 1, PRESS_PACKETS);
  const isEnd = step + 1 >= PRESS_PACKETS;
  const payload = writeTelephoneEvent({ event, isEnd, durationSamples: spoken * PACKET_SAMPLES });
  return { payload, hasMarker: step === 0, timestampOffset: step * PACKET_SAMPLES };
}

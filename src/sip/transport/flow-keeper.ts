/** Keeps the flows of our registrations open through NATs and firewalls. RFC 5626, section 4.4. */
import type { Clock } from '../../lib/clock.ts';
import type { SipMessage } from '../message/message.ts';
import { type Flow, formatEndpoint } from './flow.ts';

/** Longest silence on a flow: NATs forget UDP after 30 s, RFC 5626 has 120 s for connections. */
const SILENCE_MS_MAX = { datagram: 25_000, connection: 120_000 } as const;

/** Each wait is shorter by up to this share, so that many flows stay spread. RFC 5626, 4.4. */
const JITTER = 0.2;

/** Default of a REGISTER without Expires. RFC 3261, 10.2. */
const EXPIRES_SECONDS_DEFAULT = 3600;

const EXPIRES_SECONDS_MAX = 86_400;

interface FlowKeeperOptions {
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Called once for each registration whose connection closed while it was valid: the registrar cannot reach us there. */
  readonly onLost: (callId: string) => void;
}

/** A flow, with the Call-IDs of the registrations that went over it and the end of each, in milliseconds of the clock. */
interface KeptFlow {
  readonly flow: Flow;
  readonly untilMs: Map<string, number>;
  forget: () => void;
}

/** Sends keep-alive over each flow that a valid registration went over; one a flow, however many registrations. */
export class FlowKeeper {
  readonly #options: FlowKeeperOptions;
  readonly #kept = new Map<Flow | string, KeptFlow>();
  #isStopped = false;

  constructor(options: FlowKeeperOptions) {
    this.#options = options;
  }

  /** Number of flows that are kept. */
  get size(): number {
    return this.#kept.size;
  }

  /** A REGISTER was answered with 2xx: keeps its flow while the registration is valid, and no other for its Call-ID. */
  registered(request: SipMessage, response: SipMessage, flow: Flow): void {
    const { callId } = request;
    this.#forget(callId);
    const lifeMs = lifeSecondsOf(request, response) * 1000;
    if (this.#isStopped || lifeMs === 0) return;
    const kept = this.#kept.get(keyOf(flow)) ?? this.#keep(flow);
    kept.untilMs.set(callId, this.#options.clock.nowMs() + lifeMs);
    if (flow.isReliable && !flow.isOpen) this.#lost(kept);
  }

  /** Safe to call twice. */
  stop(): void {
    this.#isStopped = true;
    for (const kept of [...this.#kept.values()]) this.#drop(kept);
  }

  #keep(flow: Flow): KeptFlow {
    const kept: KeptFlow = { flow, untilMs: new Map(), forget: () => undefined };
    const unlisten = flow.onClosed(() => this.#lost(kept));
    const cancel = this.#remind(kept);
    kept.forget = () => {
      unlisten();
      cancel();
    };
    this.#kept.set(keyOf(flow), kept);
    return kept;
  }

  /** Sends keep-alive from time to time. @returns stops that. */
  #remind(kept: KeptFlow): () => void {
    const { clock, random } = this.#options;
    const silenceMs = SILENCE_MS_MAX[kept.flow.isReliable ? 'connection' : 'datagram'];
    let cancel: () => void = () => undefined;
    const wait = () => {
      cancel = clock.after(silenceMs * (1 - JITTER * random()), () => {
        for (const [callId, untilMs] of kept.untilMs) {
          if (untilMs <= clock.nowMs()) kept.untilMs.delete(callId);
        }
        if (kept.untilMs.size === 0 || !kept.flow.isOpen) this.#drop(kept);
        else {
          wait();
          kept.flow.keepAlive();
        }
      });
    };
    wait();
    return () => cancel();
  }

  #forget(callId: string): void {
    for (const kept of this.#kept.values()) {
      if (kept.untilMs.delete(callId) && kept.untilMs.size === 0) this.#drop(kept);
    }
  }

  #drop(kept: KeptFlow): void {
    kept.forget();
    this.#kept.delete(keyOf(kept.flow));
  }

  #lost(kept: KeptFlow): void {
    const nowMs = this.#options.clock.nowMs();
    this.#drop(kept);
    for (const [callId, untilMs] of kept.untilMs) {
      if (untilMs > nowMs) this.#options.onLost(callId);
    }
  }
}

/** Flows of UDP are objects without a state, a new one each time. */
function keyOf(flow: Flow): Flow | string {
  return flow.isReliable ? flow : formatEndpoint(flow.remote);
}

/** The longest expiry in request and response: too long a keep-alive does no harm. */
function lifeSecondsOf(request: SipMessage, response: SipMessage): number {
  const asked = Number.parseInt(request.get('expires') ?? '', 10);
  if (asked === 0) return 0;
  const granted = [...(response.get('contact') ?? '').matchAll(/;\s*expires\s*=\s*"?(\d{1,9})/gi)];
  const all = [asked, Number.parseInt(response.get('expires') ?? '', 10)];
  const known = [...all, ...granted.map(([, seconds]) => Number(seconds))].filter(Number.isFinite);
  if (known.length === 0) return EXPIRES_SECONDS_DEFAULT;
  return Math.min(EXPIRES_SECONDS_MAX, Math.max(...known));
}

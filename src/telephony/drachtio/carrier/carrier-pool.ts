/** Several SIP servers as one carrier: outgoing calls use a healthy server, incoming calls arrive at all of them. */
import type { TrunkStatus } from '../../../domain/dialing/trunk.ts';
import type {
  Carrier,
  CarrierReport,
  IncomingCall,
  TextMessage,
  TextOutcome,
  TrunkRoute,
} from '../../carrier.ts';
import { WeightedTurns } from '../../trunks/server-list.ts';
import type { Trunk } from '../../trunks/trunks.ts';
import type { DrachtioCarrier, DrachtioCarrierOptions } from './drachtio-carrier.ts';
import type { OutgoingRequest, PlacedCall } from './outgoing-calls.ts';

/** Callbacks of a member to the pool. */
export type PoolTies = Required<Pick<DrachtioCarrierOptions, 'mayRegister' | 'onLost'>>;

/** One SIP server of the pool, with its share of the calls. */
export interface CarrierPoolMember {
  readonly weight: number;
  /** Makes the carrier, tied to the pool. */
  readonly open: (ties: PoolTies) => DrachtioCarrier;
}

/** Balances calls over several SIP servers and skips those that are down. */
export class CarrierPool implements Carrier {
  readonly #carriers: readonly DrachtioCarrier[];
  readonly #turns: WeightedTurns<DrachtioCarrier>;
  /** Carriers would ring every server that a trunk is registered from, so it is one at a time. */
  #registrar: DrachtioCarrier | undefined;

  /** @param members at least one. */
  constructor(members: readonly CarrierPoolMember[]) {
    const seats = members.map(({ weight, open }) => {
      const server: DrachtioCarrier = open({
        mayRegister: () => this.#mayRegister(server),
        onLost: () => this.#onLost(server),
      });
      return { server, weight };
    });
    this.#carriers = seats.map(({ server }) => server);
    this.#turns = new WeightedTurns(seats);
  }

  /** @throws {Error} when a server refuses the secret; an unreachable one is retried. */
  async start(onIncoming: (call: IncomingCall) => void): Promise<void> {
    await Promise.all(this.#carriers.map((carrier) => carrier.start(onIncoming)));
  }

  /** Renews registrations at once after a change of our address. */
  register(): void {
    this.#registrar?.register();
  }

  /** The connection of the REGISTER with that Call-ID is gone: its trunk registers again. */
  registrationLost(callId: string): void {
    this.#registrar?.registrationLost(callId);
  }

  /** Uses these trunks for new calls from now on. Resolves when former registrations are taken back. */
  async useTrunks(trunks: readonly Trunk[]): Promise<void> {
    await Promise.all(this.#carriers.map((carrier) => carrier.useTrunks(trunks)));
  }

  drain(): void {
    for (const carrier of this.#carriers) carrier.drain();
  }

  /** Resolves when no call is left, including calls between two joined parties. */
  async whenEmpty(): Promise<void> {
    await Promise.all(this.#carriers.map((carrier) => carrier.whenEmpty()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#carriers.map((carrier) => carrier.stop()));
  }

  place(request: OutgoingRequest): PlacedCall {
    const trunks = (this.#registrar ?? this.#first).trunksFor(request.from);
    return this.#carrierFor(trunks).place(request, trunks);
  }

  /** Sends a text message once. Never rejects. */
  sendText(message: TextMessage): Promise<TextOutcome> {
    const trunks = (this.#registrar ?? this.#first).trunksFor(message.from);
    return this.#carrierFor(trunks).sendText(message);
  }

  routeFor(from: string): TrunkRoute | undefined {
    return (this.#registrar ?? this.#first).routeFor(from);
  }

  /** With several servers, an unreachable one does not make the report unready while another works. */
  reports(): readonly CarrierReport[] {
    const listeners = this.#carriers.map((carrier) => carrier.listenerReport());
    const isAnyReady = listeners.some(({ isReady }) => isReady);
    return [
      ...listeners.map((report) => ({ ...report, isReady: isAnyReady })),
      ...(this.#registrar ?? this.#first)
        .trunkReports()
        .map((report) => ({ ...report, kind: 'trunk' as const })),
    ];
  }

  /** How the trunk is, as it is reached from the server that registers, or else from any that is connected. */
  trunkStatusOf(trunk: Trunk): TrunkStatus {
    const carrier = this.#registrar ?? this.#carriers.find(({ isConnected }) => isConnected);
    return (carrier ?? this.#first).trunkStatusOf(trunk);
  }

  get #first(): DrachtioCarrier {
    const [first] = this.#carriers;
    if (first === undefined) throw new RangeError('Cannot use a pool of no SIP servers');
    return first;
  }

  /** A registered trunk knows us by the server that registered it; the others take requests from every server. */
  #carrierFor(trunks: readonly Trunk[]): DrachtioCarrier {
    const carrier = trunks.some(({ register }) => register)
      ? this.#registrar
      : this.#turns.next(({ isConnected }) => isConnected);
    return carrier ?? this.#first;
  }

  #mayRegister(carrier: DrachtioCarrier): boolean {
    this.#registrar ??= carrier;
    return this.#registrar === carrier;
  }

  /** Another server registers in place of the one that is lost. */
  #onLost(carrier: DrachtioCarrier): void {
    if (this.#registrar !== carrier) return;
    this.#registrar = this.#carriers.find(({ isConnected }) => isConnected);
    this.#registrar?.register();
  }
}

/** SMPP gateways of all accounts: one connection each, for messages, reports and incoming messages. */
import type { LookupFunction } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { isPhoneNumber } from '../../../domain/dialing/phone-number.ts';
import type { SmsCallback } from '../../../domain/sms/sms-callback.ts';
import type { SmsGateway } from '../../../domain/sms/sms-gateway.ts';
import {
  recordSmsNews,
  type SmsMessage,
  type SmsNews,
  type SmsState,
} from '../../../domain/sms/sms-message.ts';
import { takeIncoming } from '../../../domain/sms/sms-rules.ts';
import type { RunTransaction, Stores } from '../../../domain/stores.ts';
import type { WebhookUrlRules } from '../../../domain/webhook/webhook-url.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import { Repeater } from '../../../lib/repeater.ts';
import { messageOf } from '../../../lib/unknown-value.ts';
import { SmppLine, type SmppPlace } from './smpp-line.ts';
import { type Delivery, decodeText, encodeText } from './smpp-pdu.ts';
import { hex } from './smpp-session.ts';

/** A gateway that was made or changed is connected to within this time, or with its first message. */
const LOOK_MS = 15_000;

/** A message may be asked for while its gateway is being connected to. */
const BOUND_MS_MAX = 2000;

/** A report may overtake the answer that names its message: it is looked for again. */
const LATE_ANSWER_MS = 500;
const LATE_ANSWER_TRIES = 6;

interface GatewaysOptions {
  readonly stores: Pick<Stores, 'smsGateways' | 'smsOptOuts'> & {
    readonly transaction: RunTransaction;
  };
  readonly rules: WebhookUrlRules;
  /** Gives only addresses that may be connected to. */
  readonly lookup: () => Promise<LookupFunction>;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Connected {
  readonly line: SmppLine;
  readonly gateway: SmsGateway;
}

/** Keeps the connections as the database has the gateways. */
export class SmppGateways {
  readonly #options: GatewaysOptions;
  readonly #looks: Repeater;
  readonly #lines = new Map<string, Connected>();
  #isStopped = false;

  constructor(options: GatewaysOptions) {
    this.#options = options;
    const { clock } = options;
    this.#looks = new Repeater({ clock, run: () => this.#look() });
  }

  /** Connects to every gateway, and to later ones. */
  start(): void {
    this.#looks.ask();
  }

  /** Ends every session. Safe to call twice. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#looks.stop();
    const ended = [...this.#lines.values()].map(({ line }) => line.stop());
    this.#lines.clear();
    await Promise.all(ended);
  }

  /** Sends once, and not after the signal. */
  async send(gateway: SmsGateway, { text, to }: SmsMessage, signal: AbortSignal): Promise<SmsNews> {
    const { from } = gateway;
    try {
      const session = await this.#lineOf(gateway).session(BOUND_MS_MAX);
      signal.throwIfAborted();
      const outcome = await session.submit({ from, to, ...encodeText(text ?? '') });
      if (outcome === undefined) return { status: 'unknown', reason: 'the gateway did not answer' };
      if (outcome.kind === 'taken') return { status: 'sent', providerId: outcome.messageId };
      return { status: 'failed', reason: `the gateway refused it with ${hex(outcome.status)}` };
    } catch (error) {
      return { status: 'failed', reason: `it was not sent: ${messageOf(error)}` };
    }
  }

  async #look(): Promise<number> {
    const { log, stores } = this.#options;
    try {
      const found = await stores.smsGateways.ofKind('smpp');
      // Calls of the sandbox send nothing.
      const live = found.filter(({ environment }) => environment === 'live');
      const ids = new Set(live.map(({ id }) => id));
      for (const [id, { line }] of this.#lines) if (!ids.has(id)) this.#drop(id, line);
      for (const gateway of live) this.#lineOf(gateway);
    } catch (error) {
      log.warn({ err: error }, 'SMPP gateways could not be read, will try again');
    }
    return LOOK_MS;
  }

  /** The connection of a gateway as it is now; one to another place is ended. */
  #lineOf(gateway: SmsGateway): SmppLine {
    const known = this.#lines.get(gateway.id);
    const place = placeOf(gateway);
    if (known !== undefined) {
      // A change of other fields leaves the messages on their way their answers.
      const isHere = isDeepStrictEqual(placeOf(known.gateway), place);
      if (isHere || known.gateway.updatedAt >= gateway.updatedAt) return known.line;
      this.#drop(gateway.id, known.line);
    }
    const line = new SmppLine({
      ...this.#options,
      place,
      name: gateway.name,
      onDelivery: (delivery) => this.#deliver(delivery, gateway),
    });
    if (this.#isStopped) return line;
    this.#lines.set(gateway.id, { line, gateway });
    line.start();
    return line;
  }

  #drop(id: string, line: SmppLine): void {
    this.#lines.delete(id);
    line.stop().catch((error: unknown) => {
      this.#options.log.warn({ err: error }, 'an SMPP session could not be ended');
    });
  }

  async #deliver(delivery: Delivery, gateway: SmsGateway): Promise<void> {
    const { clock, stores } = this.#options;
    const told = readSmppDelivery(delivery);
    if (told?.kind === 'incoming') {
      await takeIncoming(told, gateway, { ...stores, now: clock.now() });
    }
    if (told?.kind !== 'report' || told.providerId === null) return;
    const { news, providerId } = told;
    for (let tries = 0; tries < LATE_ANSWER_TRIES && !this.#isStopped; tries += 1) {
      if (tries > 0) await new Promise<void>((resolve) => clock.after(LATE_ANSWER_MS, resolve));
      if (await this.#record(gateway, providerId, news)) return;
    }
  }

  /** @returns whether there is such a message. */
  #record(gateway: SmsGateway, providerId: string, news: SmsNews): Promise<boolean> {
    const { accountId, environment, name } = gateway;
    const sender = { accountId, environment, gateway: name };
    return this.#options.stores.transaction(async (stores) => {
      const message = await stores.smsMessages.findByProviderId(sender, providerId);
      if (message === undefined) return false;
      await recordSmsNews(stores, { message, news, now: this.#options.clock.now() });
      return true;
    });
  }
}

function placeOf({ secret, url, username }: SmsGateway): SmppPlace {
  return { url: url ?? '', systemId: username ?? '', password: secret ?? '' };
}

type Reported = Exclude<SmsState, 'accepted' | 'unknown'>;

/** Words of `stat` in the text of a report. @see SMPP 3.4, appendix B */
const STATES: Readonly<Record<string, Reported>> = {
  ENROUTE: 'sent',
  ACCEPTD: 'sent',
  DELIVRD: 'delivered',
  EXPIRED: 'failed',
  DELETED: 'failed',
  UNDELIV: 'failed',
  REJECTD: 'failed',
};

/** Values of `message_state`. @see SMPP 3.4, 5.2.28 */
const STATES_BY_NUMBER: readonly (keyof typeof STATES | undefined)[] = [
  ...[undefined, 'ENROUTE', 'DELIVRD', 'EXPIRED', 'DELETED', 'UNDELIV', 'ACCEPTD', undefined],
  'REJECTD',
];

/** Undefined for a delivery that is neither a report with a known state nor a message from a number. */
function readSmppDelivery(delivery: Delivery): SmsCallback | undefined {
  const text = decodeText(delivery);
  if (delivery.isReport) return reportOf(delivery, text);
  const from = delivery.from.startsWith('+') ? delivery.from : `+${delivery.from}`;
  return isPhoneNumber(from) ? { kind: 'incoming', from, text } : undefined;
}

function reportOf({ messageId, state }: Delivery, text: string): SmsCallback | undefined {
  const providerId = messageId ?? /\bid:(\S+)/i.exec(text)?.[1];
  const byText = /\bstat:([A-Z]{1,10})/i.exec(text)?.[1]?.toUpperCase();
  const word = (state === undefined ? undefined : STATES_BY_NUMBER[state]) ?? byText ?? '';
  const status = Object.hasOwn(STATES, word) ? STATES[word] : undefined;
  if (status === undefined || providerId === undefined) return undefined;
  const code = /\berr:(\w{1,8})/i.exec(text)?.[1];
  const why = code === undefined || /^0+$/.test(code) ? '' : ` (${code})`;
  const reason = status === 'failed' ? `the network reported "${word}"${why}` : null;
  return { kind: 'report', providerId, news: { status, reason } };
}

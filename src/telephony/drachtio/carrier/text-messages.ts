/** Text messages over one SIP server, each through the trunk with its number. */
import { type Clock, OverdueError, TRANSACTION_MS, within } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/logger.ts';
import { callerHeadersOf, isDialable, numberOfHeader } from '../../call-headers.ts';
import type { TextMessage, TextOutcome } from '../../carrier.ts';
import { proxyUriOf, type Trunk, targetUriOf } from '../../trunks/trunks.ts';
import { type AnswerChallenge, secondTry } from '../leg/in-dialog-request.ts';
import { refuse, type SourceAcl } from './source-acl.ts';
import { reasonOf, type SrfAnswer, type SrfClient, type SrfRequest, sendOver } from './srf.ts';

/** Longer texts are no answer of a telephone. @see RFC 3428, section 8 */
const TEXT_BYTES_MAX = 1300;

/** Messages that wait for their listener at one time; more are refused. */
const TAKEN_MAX = 32;

interface TextMessagesOptions {
  readonly srf: SrfClient;
  readonly sourceAcl: SourceAcl;
  /** Undefined if the server answers challenges. */
  readonly answerChallenge?: AnswerChallenge | undefined;
  /** Takes messages of carriers; without it they are refused. */
  readonly onText?: ((message: TextMessage) => Promise<void>) | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** @see RFC 3428 */
export class TextMessages {
  readonly #options: TextMessagesOptions;
  #taken = 0;

  constructor(options: TextMessagesOptions) {
    this.#options = options;
    options.srf.message((request, answer) => void this.#take(request, answer));
  }

  /** Sends once. Never rejects. */
  async send(message: TextMessage, trunk: Trunk | undefined): Promise<TextOutcome> {
    if (trunk === undefined) return notSent('no trunk has the number that it is from');
    if (!isDialable(message.to)) return notSent('its recipient is no number');
    const { from, to } = message;
    const target = targetUriOf(trunk, to);
    const headers = {
      ...{ ...callerHeadersOf(trunk, from), To: `<${target}>` },
      'Content-Type': 'text/plain;charset=UTF-8',
    };
    return this.#exchange({ message, trunk, target }, headers, true);
  }

  async #exchange(
    sending: { readonly message: TextMessage; readonly trunk: Trunk; readonly target: string },
    headers: Record<string, string>,
    isFirst: boolean,
  ): Promise<TextOutcome> {
    const { answerChallenge, clock, srf } = this.#options;
    const { message, target, trunk } = sending;
    const parts = { method: 'MESSAGE', headers, body: message.text, proxy: proxyUriOf(trunk) };
    let exchange: Awaited<ReturnType<typeof sendOver>>;
    try {
      exchange = await within(clock, TRANSACTION_MS, sendOver(srf, target, parts));
    } catch (error) {
      // The server may still send a message that it has not confirmed.
      if (error instanceof OverdueError) return { kind: 'unanswered' };
      return notSent(`the SIP server did not send it: ${reasonOf(error)}`);
    }
    const { answered, sent: refused } = exchange;
    const response = await within(clock, TRANSACTION_MS, answered).catch(() => undefined);
    if (response === undefined) return { kind: 'unanswered' };
    const again = isFirst ? secondTry({ refused, response, headers, answerChallenge }) : undefined;
    return again === undefined ? outcomeOf(response.status) : this.#exchange(sending, again, false);
  }

  /** Answers once the message has been taken: a carrier repeats one that was refused for want of a database. */
  async #take(request: SrfRequest, answer: SrfAnswer): Promise<void> {
    const { log, onText, sourceAcl } = this.#options;
    const barred = sourceAcl.refusalOfMessage(request);
    if (barred === null) return;
    const refusal = barred ?? refusalOfText(request);
    const isBusy = this.#taken >= TAKEN_MAX;
    if (refusal !== undefined || isBusy || onText === undefined) {
      refuse(answer, refusal ?? (isBusy ? 503 : 405));
      return;
    }
    this.#taken += 1;
    try {
      await onText({
        from: numberOfHeader(request.get('p-asserted-identity') ?? request.get('from') ?? ''),
        to: numberOfHeader(request.get('to') ?? ''),
        text: request.body ?? '',
      });
      answer.send(200);
    } catch (error) {
      log.warn({ err: error }, 'a text message could not be taken');
      refuse(answer, 503);
    } finally {
      this.#taken -= 1;
    }
  }
}

/** RFC 3428, 7: 415 for a type that is not text; 513 for one that is too long. */
function refusalOfText(request: SrfRequest): number | undefined {
  const type = request.get('content-type') ?? 'text/plain';
  if (!/^\s*text\/plain\b/i.test(type)) return 415;
  return Buffer.byteLength(request.body ?? '') > TEXT_BYTES_MAX ? 513 : undefined;
}

/** 408 is ours where the far end is silent, and a far end's own where the one behind it is. */
function outcomeOf(sipStatus: number): TextOutcome {
  if (sipStatus >= 200 && sipStatus < 300) return { kind: 'taken' };
  if (sipStatus === 408 || sipStatus === 500 || sipStatus === 504) return { kind: 'unanswered' };
  return { kind: 'refused', sipStatus, reason: `the carrier answered SIP ${sipStatus}` };
}

function notSent(reason: string): TextOutcome {
  return { kind: 'refused', sipStatus: null, reason };
}

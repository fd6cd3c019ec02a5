/** Tool `send_sms`: one message to the other party of the call. The model writes the text, and never the number. */
import type { SmsMessage, SmsNews, SmsRefusal } from '../../domain/sms/sms-message.ts';
import { type RecipientDecision, textFault } from '../../domain/sms/sms-rules.ts';
import { type Clock, TimeLimit, unlessAborted } from '../../lib/clock.ts';
import { messageOf } from '../../lib/unknown-value.ts';
import type { Tool, ToolOutcome } from '../tool.ts';

/** Hands messages to a gateway. */
export interface SmsSender {
  /**
   * Sends once.
   *
   * @returns the gateway's answer about the message.
   * @throws {Error} where it is not known whether the gateway took the message.
   */
  send(message: SmsMessage, signal: AbortSignal): Promise<SmsNews>;
}

/** Rules and dependencies of `send_sms` for one call. */
export interface SmsRules {
  readonly recipient: RecipientDecision;
  /** Whether a number rings here: an agent has no use for messages. */
  readonly isOwnNumber: (number: string) => Promise<boolean>;
  /** `https` URLs that a text may lead to. */
  readonly allowedLinks: readonly string[];
  readonly timeoutMs: number;
  readonly sender: SmsSender;
  /** Makes the next message of the call. */
  readonly newMessage: (facts: { readonly to: string; readonly text: string }) => SmsMessage;
  /** Saves a new message where limits and opt-outs allow it. */
  readonly admit: (message: SmsMessage) => Promise<SmsRefusal | undefined>;
  /** Records the outcome of a message. */
  readonly record: (message: SmsMessage, news: SmsNews) => Promise<void>;
  readonly clock: Clock;
}

/** More than any text of four parts. */
const TEXT_CHARS_MAX = 640;

/** Time in which the state of a message that was cut off is saved, before the toolbox gives up. */
const SAVE_MS = 1500;

const PARAMETERS = {
  type: 'object',
  properties: {
    text: {
      type: 'string',
      description: 'The whole message, plain and short, such as an address, a link or a code.',
      minLength: 1,
      maxLength: TEXT_CHARS_MAX,
    },
  },
  required: ['text'],
  additionalProperties: false,
} as const;

/** Makes the tool for one call. */
export function createSendSms(rules: SmsRules): Tool {
  const { recipient, allowedLinks, timeoutMs } = rules;
  const sends = new CallMessages(rules);
  return {
    isAfterWords: false,
    needsSureWords: true,
    timeoutMs: timeoutMs + SAVE_MS,
    lateText: UNKNOWN,
    description: {
      name: 'send_sms',
      description:
        "Sends a text message to the caller's own telephone; no other number can get one. " +
        'Use it when the caller has agreed to get a message. Afterwards ask whether it has arrived.',
      parameters: PARAMETERS,
    },
    refusal: ({ text }) => {
      if (!recipient.isAllowed) return notSent(recipient.reason);
      const fault = textFault(String(text), allowedLinks);
      return fault === undefined ? undefined : `The message was not sent: ${fault}.`;
    },
    run: async ({ text }, _context, signal) => {
      // The toolbox has refused it already.
      if (!recipient.isAllowed) throw new Error(recipient.reason);
      return sends.send(recipient.number, String(text), signal);
    },
  };
}

const UNKNOWN =
  'The message may have been sent or not: the gateway did not answer in time. ' +
  'Tell the caller so, with an apology, and do not send it again.';

const REFUSALS: Readonly<Record<SmsRefusal, string>> = {
  'opted-out': 'this number wants no messages',
  repeated: 'the same message went out on this call already',
  'call-cap': 'this call has used its messages',
  'number-cap': 'this number has had its messages of the day',
  'daily-cap': 'the messages of the day are used up',
};

/** The messages of one call. Sending completes even when the caller interrupts and the model gets no outcome. */
class CallMessages {
  readonly #rules: SmsRules;
  /** Outcome of a message that the model has not received yet. */
  #untold: string | undefined;
  #isSending = false;

  constructor(rules: SmsRules) {
    this.#rules = rules;
  }

  async send(to: string, text: string, signal: AbortSignal): Promise<ToolOutcome> {
    const untold = this.#untold;
    this.#untold = undefined;
    if (this.#isSending) return { text: STILL_GOING };
    if (untold !== undefined) return { text: `${BEFORE} ${untold}` };
    this.#isSending = true;
    try {
      const outcome = await this.#send(to, text);
      if (signal.aborted) this.#untold = outcome.text;
      return outcome;
    } finally {
      this.#isSending = false;
    }
  }

  async #send(to: string, text: string): Promise<ToolOutcome> {
    const { admit, isOwnNumber, newMessage, record } = this.#rules;
    if (await isOwnNumber(to)) return { text: notSent('the number is one of this server') };
    const message = newMessage({ to, text });
    const refusal = await admit(message);
    if (refusal !== undefined) {
      return { text: notSent(REFUSALS[refusal]), problem: REFUSALS[refusal] };
    }
    const news = await this.#hand(message);
    try {
      await record(message, news);
    } catch {
      // The message may be out: that its state is not on record does not take it back.
      return { ...outcomeOf(news), problem: 'what became of the message could not be recorded' };
    }
    return outcomeOf(news);
  }

  /** Never rejects: an unknown result is an outcome too. */
  async #hand(message: SmsMessage): Promise<SmsNews> {
    const { clock, record, sender, timeoutMs } = this.#rules;
    using limit = new TimeLimit(clock, timeoutMs, { reason: 'the gateway did not answer in time' });
    const sending = sender.send(message, limit.signal);
    try {
      return await unlessAborted(sending, limit.signal);
    } catch (error) {
      if (limit.isOver) {
        // Reports name a message by the identifier that only the answer has. Without it, the state stays unknown.
        sending.then((news) => record(message, news)).catch(() => undefined);
      }
      return { status: 'unknown', reason: messageOf(error) };
    }
  }
}

const STILL_GOING =
  'Not sent: the message before is still on its way. Tell the caller so, and do not send another one now.';

const BEFORE = 'Nothing was sent now. A message was asked for a moment ago, and this came of it:';

function outcomeOf({ status, reason }: SmsNews): ToolOutcome {
  const problem = typeof reason === 'string' ? { problem: reason } : {};
  switch (status) {
    case 'sent':
    case 'delivered':
      return {
        text: "The message is on its way to the caller's telephone. Ask whether it has arrived.",
        isDone: true,
      };
    case 'failed':
      return { text: notSent('the gateway refused it'), ...problem };
    case 'unknown':
      return { text: UNKNOWN, ...problem };
    default:
      return status satisfies never;
  }
}

function notSent(reason: string): string {
  return `The message was not sent: ${reason}. Tell the caller that it is not possible.`;
}

/** Port of the tools that a language model may call. */

import type { TransferMode } from '../domain/agent/transfer-rules.ts';
import type { Appointment } from '../domain/call/call.ts';
import type { ToolDescription } from '../llm/language-model.ts';

/** Actions on the call that a tool may request. */
export interface ToolContext {
  /**
   * Transfers the caller, or brings a third party into the call of caller and agent.
   *
   * @param number E.164, already allowed.
   * @param summary what the caller wants, in a sentence or two; empty when unknown.
   * @param mode `cold` when not given.
   * @throws when the transfer was refused or failed; the call goes on.
   */
  transfer(number: string, summary: string, mode?: TransferMode): Promise<void>;

  /** Presses telephone keys on the line: 0-9 * # A-D, and `w` for a pause. */
  sendDigits(digits: string): void;

  /**
   * Takes keys of the caller that are kept from transcript, recording, recogniser and model: up to `max` digits, ended by `#`, by the
   * last of them, or by a pause; `*` starts over. Voice is not heard meanwhile.
   *
   * @returns the digits; empty where none was pressed.
   */
  collectDigits(max: number, signal: AbortSignal): Promise<string>;

  /** Puts an appointment on record that was made for the caller. */
  appointmentBooked(appointment: Omit<Appointment, 'id'>): void;
}

/** Result of a tool call. */
export interface ToolOutcome {
  /** Text for the model, in plain English; never longer than `RESULT_LENGTH_MAX`. */
  readonly text: string;
  /** Whether a tool without any other effect on the call has succeeded; false unless given. */
  readonly isDone?: boolean;
  /** Why it was not done, for the operator: holds no word or number of a caller and no secret. */
  readonly problem?: string;
  /** State of the call after it; undefined when the call goes on as before. */
  readonly next?: 'hang-up' | 'transferred' | 'three-way';
}

/** Result texts are cut here, so that a talkative calendar does not fill the model's memory. */
export const RESULT_LENGTH_MAX = 2000;

/** Arguments of a tool call, by name. */
export type ToolArguments = Readonly<Record<string, unknown>>;

/** A tool that a language model may call. */
export interface Tool {
  readonly description: ToolDescription;

  /** Whether the agent's words along with the tool call are played to their end first. */
  readonly isAfterWords: boolean;

  /** Whether the agent asks first, where the recogniser is unsure of the caller's words; it does not unless given. */
  readonly needsSureWords?: boolean;

  /** Whether it takes keys of the caller: a key pressed before it runs is for it. It does not unless given. */
  readonly takesKeys?: boolean;

  /** Whether digits that were collected may stand in its arguments, as `{{name}}`; not unless given. */
  readonly mayUseCollected?: boolean;

  /** How long it may take; 10 s unless given. */
  readonly timeoutMs?: number;

  /** Phrase for the caller while it runs; a set phrase unless given. */
  readonly sayWhileWaiting?: string;

  /** Text for the model when it takes longer and goes on by itself; unless given, that it was not done. */
  readonly lateText?: string;

  /**
   * Why these arguments are refused, for the model; pure. They have been checked against `description.parameters`.
   */
  refusal?(args: ToolArguments): string | undefined;

  /**
   * Does it. The arguments have been checked against `description.parameters` and by `refusal`.
   *
   * @throws {Error} which the toolbox reports to the model.
   */
  run(args: ToolArguments, context: ToolContext, signal: AbortSignal): Promise<ToolOutcome>;
}

/** The farewell that comes with the call is heard to its end before the line is closed. */
export const endCall: Tool = {
  isAfterWords: true,
  needsSureWords: true,
  description: {
    name: 'end_call',
    description:
      'Ends the phone call. Use it only when the caller has said goodbye or wants nothing more, ' +
      'and say goodbye in the same answer. Where another party is on the line, it takes you alone out of the call.',
    parameters: { type: 'object', properties: {}, additionalProperties: false },
  },
  run: () => Promise.resolve({ text: 'The call is ending.', next: 'hang-up' }),
};

/** Runs a tool call and reports its outcome, also of a transfer that outlasts the tool. */
import type { Clock } from '../../lib/clock.ts';
import type { ToolCall } from '../../llm/language-model.ts';
import type { ToolContext, ToolOutcome } from '../../tool/tool.ts';
import type { Toolbox } from '../../tool/toolbox.ts';
import type { CallControl, ConversationEvent } from '../conversation-port.ts';
import type { Keypad } from '../endpointing/keypad.ts';
import type { TurnEvent } from './turn-event.ts';

/** Parameters of `runTool`. */
export interface ToolRun {
  readonly reply: number;
  readonly call: ToolCall;
  /** Aborted when the reply is dropped. */
  readonly signal: AbortSignal;
  readonly tools: Toolbox;
  readonly control: CallControl;
  readonly keypad: Pick<Keypad, 'collect'>;
  readonly clock: Clock;
  /** Announcement to the transfer target. */
  readonly announcement: (summary: string) => () => AsyncIterable<Int16Array>;
  readonly onEvent: (event: ConversationEvent) => void;
  readonly tell: (event: TurnEvent) => void;
}

/** Effects of a tool on its call. */
interface ToolEffects {
  isBooked: boolean;
  /** Resolves when a transfer in progress has succeeded or failed. */
  transfer: Promise<void>;
  isTransferred: boolean;
  /** True once the tool has returned: a transfer that fails later is reported as an event. */
  hasReturned: boolean;
}

/** Runs one tool call and reports its result as turn event and conversation event. Never rejects. */
export async function runTool(run: ToolRun): Promise<void> {
  const { reply, call, signal, tools, clock, onEvent, tell } = run;
  const startMs = clock.nowMs();
  const effects: ToolEffects = {
    ...{ isBooked: false, isTransferred: false, hasReturned: false },
    transfer: Promise.resolve(),
  };
  const onLate = (late: ToolOutcome) => {
    if (effects.isBooked || late.isDone === true)
      tell({ kind: 'tool-settled', call, outcome: late });
  };
  const outcome = await tools.run(call, contextOf(run, effects), signal, onLate);
  effects.hasReturned = true;
  // A successful transfer ends the agent's part in the call and aborts the tool.
  if (signal.aborted) await effects.transfer;
  const isKnown = tools.descriptions.some(({ name }) => name === call.name);
  const hasEffect = effects.isBooked || effects.isTransferred || outcome.next !== undefined;
  const isDone = hasEffect || outcome.isDone === true;
  const name = isKnown ? call.name : 'unknown';
  const tookMs = clock.nowMs() - startMs;
  // A transfer that was made has aborted its tool.
  const problem = isDone || outcome.problem === undefined ? {} : { problem: outcome.problem };
  onEvent({ kind: 'tool', name, outcome: isDone ? 'done' : 'refused', tookMs, ...problem });
  if (!signal.aborted) tell({ kind: 'tool-finished', reply, call, outcome });
}

function contextOf(
  { control, keypad, announcement, tell }: ToolRun,
  effects: ToolEffects,
): ToolContext {
  return {
    transfer: async (number, summary, mode = 'cold') => {
      const words = mode === 'cold' ? undefined : announcement(summary);
      const way = mode === 'three-way' ? 'bringIn' : 'transfer';
      const { promise, resolve } = Promise.withResolvers<void>();
      effects.transfer = promise;
      try {
        await control[way](number, summary, words);
        effects.isTransferred = true;
      } catch (error) {
        if (effects.hasReturned) tell({ kind: 'transfer-failed' });
        throw error;
      } finally {
        resolve();
      }
    },
    collectDigits: (max, signal) => keypad.collect(max, signal),
    sendDigits: (digits) => control.sendDigits(digits),
    appointmentBooked: (appointment) => {
      control.appointmentBooked(appointment);
      effects.isBooked = true;
    },
  };
}

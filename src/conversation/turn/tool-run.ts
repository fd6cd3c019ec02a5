/** Runs a tool call and reports its outcome, also of a transfer that outlasts the tool. */
import type { Clock } from '../../lib/clock.ts';
import type { ToolCall } from '../../llm/language-model.ts';
import type { ToolContext } from '../../tool/tool.ts';
import type { Toolbox } from '../../tool/toolbox.ts';
import type { CallControl, ConversationEvent } from '../conversation-port.ts';
import type { TurnEvent } from './turn-event.ts';

export interface ToolRun {
  readonly reply: number;
  readonly call: ToolCall;
  /** Aborted when the reply is dropped. */
  readonly signal: AbortSignal;
  readonly tools: Toolbox;
  readonly control: CallControl;
  readonly clock: Clock;
  /** Announcement to the transfer target. */
  readonly announcement: (summary: string) => () => AsyncIterable<Int16Array>;
  readonly onEvent: (event: ConversationEvent) => void;
  readonly tell: (event: TurnEvent) => void;
}

/** What became of the call while the tool ran. */
interface Doings {
  isBooked: boolean;
  /** Resolves when a hand-over that was begun has come to something, or to nothing. */
  handOver: Promise<void>;
  isHandedOver: boolean;
  /** The model has been answered, or does not wait any more. */
  isLeft: boolean;
}

/** Never rejects. */
export async function runTool(run: ToolRun): Promise<void> {
  const { reply, call, signal, tools, clock, onEvent, tell } = run;
  const startMs = clock.nowMs();
  const doings: Doings = {
    ...{ isBooked: false, isHandedOver: false, isLeft: false },
    handOver: Promise.resolve(),
  };
  const outcome = await tools.run(call, contextOf(run, doings), signal);
  doings.isLeft = true;
  // A hand-over that works ends the agent's part in the call, and with it the tool.
  if (signal.aborted) await doings.handOver;
  const isKnown = tools.descriptions.some(({ name }) => name === call.name);
  const isDone = doings.isBooked || doings.isHandedOver || outcome.next !== undefined;
  const name = isKnown ? call.name : 'unknown';
  const tookMs = clock.nowMs() - startMs;
  onEvent({ kind: 'tool', name, outcome: isDone ? 'done' : 'refused', tookMs });
  if (!signal.aborted) tell({ kind: 'tool-finished', reply, call, outcome });
}

function contextOf({ control, announcement, tell }: ToolRun, doings: Doings): ToolContext {
  return {
    transfer: async (number, summary, mode = 'cold') => {
      const words = mode === 'cold' ? undefined : announcement(summary);
      const way = mode === 'three-way' ? 'bringIn' : 'transfer';
      const { promise, resolve } = Promise.withResolvers<void>();
      doings.handOver = promise;
      try {
        await control[way](number, summary, words);
        doings.isHandedOver = true;
      } catch (error) {
        if (doings.isLeft) tell({ kind: 'transfer-failed' });
        throw error;
      } finally {
        resolve();
      }
    },
    appointmentBooked: (appointment) => {
      control.appointmentBooked(appointment);
      doings.isBooked = true;
    },
  };
}

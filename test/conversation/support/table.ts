/** A whole conversation on a fake clock, with every part of it at hand. */
import { Conversation, type ConversationOptions } from '../../../src/conversation/conversation.ts';
import type {
  ConversationBrief,
  ConversationEvent,
} from '../../../src/conversation/conversation-port.ts';
import { silentLogger } from '../../../src/lib/logger.ts';
import { endCall } from '../../../src/tool/tool.ts';
import { Toolbox } from '../../../src/tool/toolbox.ts';
import { createTransferCall } from '../../../src/tool/transfer-call.ts';
import { FakeClock } from '../../support/time/fake-clock.ts';
import { FakeLine } from './fake-line.ts';
import { FakeListener, FakeModel, FakeSynthesizer } from './fake-parts.ts';

export const BRIEF: ConversationBrief = {
  greeting: 'Hello.',
  systemPrompt: 'You answer the telephone of a dentist.',
  voice: 'en-US-JennyNeural',
  language: 'en-US',
  isInterruptible: true,
  silenceTimeoutMs: 10_000,
  maxDurationMs: 600_000,
};

export function layTable(
  brief: Partial<ConversationBrief> = {},
  options: Partial<ConversationOptions> = {},
) {
  const clock = new FakeClock(1_000_000);
  const line = new FakeLine(clock);
  const listener = new FakeListener(clock);
  const synthesizer = new FakeSynthesizer(clock);
  const model = new FakeModel(clock);
  const events: ConversationEvent[] = [];
  const transfers: string[] = [];
  const conversation = new Conversation({
    brief: { ...BRIEF, ...brief },
    audio: line,
    listener,
    hasVoiceDetector: false,
    synthesizer,
    model,
    tools: new Toolbox({
      clock,
      tools: [
        endCall,
        createTransferCall({
          targets: [{ label: 'sales', number: '+390612345678' }],
          systemPrompt: '',
          agentNumber: '+390698765432',
          ownNumbers: [],
        }),
      ],
    }),
    control: {
      transfer: (number) => {
        transfers.push(number);
        return Promise.resolve();
      },
      bringIn: (number) => {
        transfers.push(number);
        return Promise.resolve();
      },
      sendDigits: () => undefined,
      appointmentBooked: () => undefined,
    },
    clock,
    log: silentLogger,
    onEvent: (event) => events.push(event),
    ...options,
  });

  /** Lets promises settle, then moves the clock in steps of 10 ms with the same in between. */
  async function pass(byMs: number): Promise<void> {
    for (let passedMs = 0; passedMs < byMs; passedMs += 10) {
      await settled();
      clock.advance(Math.min(10, byMs - passedMs));
    }
    await settled();
  }

  /** The caller says something, from now on and for `voiceMs`. */
  async function hear(text: string, voiceMs: number): Promise<void> {
    listener.says = text;
    line.voice(voiceMs);
    await pass(voiceMs);
  }

  const transcript = () =>
    events.flatMap((event) =>
      event.kind === 'said' ? [`${event.entry.role}: ${event.entry.text}`] : [],
    );
  const end = () => events.find((event) => event.kind === 'ended')?.end;
  const turns = () => events.flatMap((event) => (event.kind === 'turn' ? [event.times] : []));
  const parts = { clock, line, listener, synthesizer, model, events, transfers, conversation };
  return { ...parts, pass, hear, transcript, end, turns };
}

/** Every promise that can go on without the clock has gone on. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

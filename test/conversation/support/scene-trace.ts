/** Writes events and effects of the turn machine as lines that people can read. */
import type { ConversationEvent } from '../../../src/conversation/conversation-port.ts';
import type { TurnEffect, TurnEvent } from '../../../src/conversation/turn/turn-event.ts';

export function traceTurnEvent(event: TurnEvent): string {
  const { kind, ...rest } = event;
  return [kind, ...fieldsOf(rest)].join(' ');
}

export function traceEffect(effect: TurnEffect): string {
  switch (effect.kind) {
    case 'ask': {
      const messages = effect.messages
        .slice(1)
        .map(({ role, content }) => `${role} ${JSON.stringify(content)}`);
      return `ask reply ${effect.reply}: ${messages.join(', ')}`;
    }
    case 'emit':
      return `EMIT ${traceConversationEvent(effect.event)}`;
    default: {
      const { kind, ...rest } = effect;
      return [kind, ...fieldsOf(rest)].join(' ');
    }
  }
}

function traceConversationEvent(event: ConversationEvent): string {
  if (event.kind === 'said') {
    const { role, text, at } = event.entry;
    return `said by ${role} at ${(at.getTime() / 1000).toFixed(3)}: ${JSON.stringify(text)}`;
  }
  const { kind, ...rest } = event;
  return [kind, ...fieldsOf(rest)].join(' ');
}

/** Instants as seconds, like the clock of the trace. */
function fieldsOf(fields: object): string[] {
  return Object.entries(fields).map(([name, value]) => {
    if (name.endsWith('AtMs') || name === 'fromMs') return `${name} ${Number(value) / 1000}`;
    if (typeof value === 'number') return `${name} ${Math.round(value)}`;
    return name === 'timer' || name === 'digit'
      ? String(value)
      : `${name} ${JSON.stringify(value)}`;
  });
}

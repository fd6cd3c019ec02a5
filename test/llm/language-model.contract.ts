/** What every language model must do, whichever it is. */
import { describe, expect, test } from 'vitest';
import type { LanguageModel, ModelEvent, ModelRequest } from '../../src/llm/language-model.ts';

export const QUESTION = 'What are your opening hours?';

export const TRANSFER = {
  name: 'transfer_call',
  description: 'Hands the caller over.',
  parameters: {
    type: 'object',
    properties: { destination: { type: 'string', enum: ['sales'] } },
    required: ['destination'],
  },
} as const;

export function requestOf(words: string, more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    messages: [
      { role: 'system', content: 'You are a receptionist.' },
      { role: 'user', content: words },
    ],
    signal: new AbortController().signal,
    ...more,
  };
}

export async function collect(stream: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

export const textOf = (events: readonly ModelEvent[]) =>
  events.map((event) => (event.kind === 'text' ? event.text : '')).join('');

/** @param prepare brings the model behind `open` to answer with plain words, a tool call, or JSON. */
export function describeLanguageModel(
  name: string,
  open: () => LanguageModel,
  prepare: (what: 'answer' | 'call' | 'json') => void = () => undefined,
): void {
  describe(`${name}, as a language model,`, () => {
    test('answers in more than one piece', async () => {
      prepare('answer');

      const events = await collect(open().stream(requestOf(QUESTION)));

      expect(events.length).toBeGreaterThan(2);
      expect(textOf(events)).toMatch(/open/);
    });

    test('calls a tool that it is offered, after its words', async () => {
      prepare('call');

      const request = requestOf('Can I speak to a person?', { tools: [TRANSFER] });
      const events = await collect(open().stream(request));

      expect(events.at(-1)).toEqual({
        kind: 'tool-call',
        call: {
          id: expect.any(String),
          name: 'transfer_call',
          arguments: { destination: 'sales' },
        },
      });
      expect(textOf(events)).toMatch(/moment/);
    });

    test('answers in JSON when it is given a schema', async () => {
      prepare('json');
      const schema = {
        type: 'object',
        properties: { intent: { type: 'string', enum: ['booking', 'other'] } },
        required: ['intent'],
      };

      const events = await collect(
        open().stream(requestOf('I would like to book an appointment.', { schema })),
      );

      expect(JSON.parse(textOf(events))).toEqual({ intent: 'booking' });
    });

    test('does not begin once it is aborted', async () => {
      prepare('answer');
      const signal = AbortSignal.abort(new Error('hung up'));

      const answer = collect(open().stream(requestOf(QUESTION, { signal })));

      await expect(answer).rejects.toThrow('hung up');
    });

    test('stops with the reason when it is aborted in the middle', async () => {
      prepare('answer');
      const controller = new AbortController();
      const heard: ModelEvent[] = [];

      const listen = async () => {
        const request = requestOf(QUESTION, { signal: controller.signal });
        for await (const event of open().stream(request)) {
          heard.push(event);
          controller.abort(new Error('interrupted'));
        }
      };

      await expect(listen()).rejects.toThrow('interrupted');
      expect(heard).toHaveLength(1);
    });

    test('passes its check', async () => {
      await expect(open().check()).resolves.toBeUndefined();
    });
  });
}

/** What every language model must do, whichever it is; and what those behind a server must survive. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type LanguageModel,
  LanguageModelError,
  type ModelEvent,
  type ModelRequest,
} from '../../src/llm/language-model.ts';
import { type ModelServer, startModelServer, type Wire, WORDS } from './support/model-server.ts';

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

/** @param open makes a model whose limits are 200 ms for the first piece and 200 ms for each next one. */
export function describeServedModel(
  name: string,
  wire: Wire,
  open: (url: string) => LanguageModel,
): void {
  describe(`${name} behind a server`, () => {
    let server: ModelServer;

    beforeEach(async () => {
      server = await startModelServer(wire);
    });
    afterEach(() => server.stop());

    describeLanguageModel(
      name,
      () => open(server.url),
      (what) => {
        server.behaviour = what;
      },
    );

    test.each([
      'hang',
      'stall',
      'fail',
      'cut',
      'rubbish',
    ] as const)('fails with words for the operator when the server does this: %s', async (behaviour) => {
      server.behaviour = behaviour;

      const answer = collect(open(server.url).stream(requestOf(QUESTION)));

      await expect(answer).rejects.toThrow(LanguageModelError);
      await expect(answer).rejects.toThrow(/^Cannot (use|reach|get an answer from) /);
    });

    test('waits for a slow first word', async () => {
      server.behaviour = 'late';

      const events = await collect(open(server.url).stream(requestOf(QUESTION)));

      expect(textOf(events)).toBe(WORDS.join(''));
    });

    test.each([
      'endless',
      'hang',
    ] as const)('closes the connection at once when it is aborted: %s', async (behaviour) => {
      server.behaviour = behaviour;
      const controller = new AbortController();
      const request = requestOf(QUESTION, { signal: controller.signal });

      const answer = collect(open(server.url).stream(request));
      await until(() => server.questions.length === 1);
      controller.abort(new Error('interrupted'));

      await expect(answer).rejects.toThrow('interrupted');
      await until(() => server.closed.count === 1);
    });

    test('closes the connection when nobody listens any more', async () => {
      server.behaviour = 'endless';

      for await (const _event of open(server.url).stream(requestOf(QUESTION))) break;

      await until(() => server.closed.count === 1);
    });

    test('answers two calls at once, and one of them is aborted alone', async () => {
      const model = open(server.url);
      const controller = new AbortController();
      server.behaviour = 'late';

      const first = collect(model.stream(requestOf(QUESTION, { signal: controller.signal })));
      const second = collect(model.stream(requestOf(QUESTION)));
      controller.abort(new Error('interrupted'));

      await expect(first).rejects.toThrow('interrupted');
      expect(textOf(await second)).toBe(WORDS.join(''));
    });

    test('says that nothing listens where no server is', async () => {
      const model = open(server.url);
      await server.stop();

      await expect(model.check()).rejects.toThrow(/^Cannot reach .*: nothing listens there$/);
      await expect(collect(model.stream(requestOf(QUESTION)))).rejects.toThrow(LanguageModelError);
    });

    test('does not pass its check while the server is ill', async () => {
      server.isHealthy = false;

      await expect(open(server.url).check()).rejects.toThrow('it answered 503');
    });
  });
}

/** Waits for something that happens on another side of a socket. */
async function until(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 2000 && !isSo(); turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(isSo()).toBe(true);
}

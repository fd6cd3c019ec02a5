/** What language models behind a server must do and survive. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type LanguageModel, LanguageModelError } from '../../src/llm/language-model.ts';
import {
  collect,
  describeLanguageModel,
  QUESTION,
  requestOf,
  TRANSFER,
  textOf,
} from './language-model.contract.ts';
import {
  type ModelServer,
  PROMPT_TOKENS,
  startModelServer,
  type Wire,
  WORDS,
} from './support/model-server.ts';

/** @param open makes a model whose limits are 600 ms for the first piece and 300 ms for each next one. */
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

    test('has a prefix read ahead: the same prompt, and one token of an answer', async () => {
      const request = requestOf(QUESTION, { tools: [TRANSFER] });
      const model = open(server.url);

      await expect(model.warm?.(request)).resolves.toBe(true);
      await collect(model.stream(request));

      const [warmed, asked] = server.questions;
      expect(warmed?.messages).toEqual(asked?.messages);
      expect(warmed?.tools).toEqual(asked?.tools);
      expect(warmed).toMatchObject({ stream: false });
      expect(JSON.stringify(warmed)).toMatch(/"(num_predict|max_tokens)":1\b/);
    });

    test('closes the connection at once when reading ahead is aborted', async () => {
      server.behaviour = 'hang';
      const controller = new AbortController();

      const warming = open(server.url).warm?.(requestOf(QUESTION, { signal: controller.signal }));
      await until(() => server.questions.length === 1);
      controller.abort(new Error('the caller speaks'));

      await expect(warming).rejects.toThrow('the caller speaks');
      await until(() => server.closed.count === 1);
    });

    test('tells how long the prompt was', async () => {
      const tokens: number[] = [];
      const onUsage = ({ promptTokens }: { readonly promptTokens: number }) =>
        tokens.push(promptTokens);

      await collect(open(server.url).stream(requestOf(QUESTION, { onUsage })));

      expect(tokens).toEqual([PROMPT_TOKENS]);
    });

    test('closes the connection when the reader stops', async () => {
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

      await expect(model.check()).rejects.toThrow(/^Cannot reach .*: nothing listens there(;|$)/);
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

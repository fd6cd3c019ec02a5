/** What a conversation does first: the answer, or the record of it. */
import { expect, test } from 'vitest';
import type { ConversationEvent } from '../../src/conversation/conversation-port.ts';
import { says } from './support/fake-parts.ts';
import { layTable } from './support/table.ts';

test('Conversation asks the model before the words are put on record', async () => {
  const order: string[] = [];
  const onEvent = ({ kind }: ConversationEvent) => {
    if (kind === 'said') order.push(kind);
  };
  const table = layTable({}, { maySpeculate: false, onEvent });
  const stream = table.model.stream.bind(table.model);
  table.model.stream = (request) => {
    order.push('asked');
    return stream(request);
  };
  table.model.answers = [says('Nine.')];
  table.conversation.start();
  await table.pass(1000);
  order.length = 0;

  await table.hear('When do you open?', 600);
  await table.pass(2000);

  expect(order.slice(0, 2)).toEqual(['asked', 'said']);
});

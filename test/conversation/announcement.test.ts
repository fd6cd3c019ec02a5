/** The announcement of the caller to the third party who answers. */
import { expect, test } from 'vitest';
import type { CallControl } from '../../src/conversation/conversation-port.ts';
import { calls } from './support/fake-parts.ts';
import { layTable } from './support/table.ts';

test.each([
  ['warm', 'a refund for order 7', 'Hello, I have a caller for you. a refund for order 7'],
  ['warm', '', 'Hello, I have a caller for you.'],
  ['three-way', 'a refund', 'Hello, I have a caller for you. a refund'],
  ['cold', 'a refund', undefined],
])('Conversation gives a %s transfer with the summary %j the words %j', async (mode, summary, words) => {
  const announcements: unknown[] = [];
  const ways: string[] = [];
  const note =
    (way: string): CallControl['transfer'] =>
    async (_number, _summary, announcement) => {
      ways.push(way);
      announcements.push(announcement?.());
    };
  const control: CallControl = {
    transfer: note('transferred'),
    bringIn: note('brought in'),
    sendDigits: () => undefined,
    appointmentBooked: () => undefined,
  };
  const spoken: string[] = [];
  const table = layTable({}, { control });
  const speak = table.synthesizer.speak.bind(table.synthesizer);
  table.synthesizer.speak = (request) => {
    spoken.push(request.text);
    return speak(request);
  };
  table.model.answers = [[calls('transfer_call', { destination: 'sales', summary, mode })]];
  table.conversation.start();
  await table.pass(1000);

  await table.hear('Can I speak to a person?', 1000);
  await table.pass(6000);

  expect(announcements).toHaveLength(1);
  expect(ways).toEqual([mode === 'three-way' ? 'brought in' : 'transferred']);
  expect(spoken.filter((text) => text.startsWith('Hello, I have a caller'))).toEqual(
    words === undefined ? [] : [words],
  );
});

/** What an application adds to the engine's own headers. */
import { expect, test } from 'vitest';
import { SipMessage } from '../../src/sip/message/message.ts';
import { addCapabilities, addParts } from '../../src/sip/own-messages.ts';

test('addParts adds an application’s extensions to those of the engine in Supported', () => {
  const message = new SipMessage();
  addCapabilities(message);

  addParts(message, { headers: { Supported: 'replaces', Server: 'own' } });

  expect(message.list('supported')).toEqual(['100rel', 'timer', 'replaces']);
  expect(message.get('server')).toBe('own');
});

/** The tool by which the model ends the call once everything is said; pure */
import type { Tool } from './tool.ts';

/** The farewell that comes with the call is heard to its end before the line is closed. */
export const endCall: Tool = {
  isAfterWords: true,
  description: {
    name: 'end_call',
    description:
      'Ends the phone call. Use it only when the caller has said goodbye or wants nothing more, ' +
      'and say goodbye in the same answer. Where another party is on the line, it takes you alone out of the call.',
    parameters: { type: 'object', properties: {}, additionalProperties: false },
  },
  run: () => Promise.resolve({ text: 'The call is ending.', next: 'hang-up' }),
};

/** SIP dialogs for tests: say what matters, the rest is filled in. */
import type { OpenDialog } from '../../../src/domain/call/open-dialog.ts';

export function buildDialog(fields: Partial<OpenDialog> = {}): OpenDialog {
  return {
    id: 'a',
    sipCallId: 'call-1',
    localParty: '<sip:+390612345678@192.0.2.1>;tag=ours',
    remoteParty: '<sip:+15550100001@192.0.2.2>;tag=theirs',
    remoteTarget: 'sip:+15550100001@192.0.2.2:5060',
    peer: { protocol: 'UDP', address: '192.0.2.2', port: 5060 },
    routes: ['<sip:192.0.2.3;lr>'],
    sequence: 2,
    channels: ['leg-1', 'leg-2'],
    price: null,
    openedAt: new Date(1_000),
    invite: null,
    ...fields,
  };
}

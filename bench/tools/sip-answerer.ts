/** Answers every call at once, as a process of its own: the engine's side of `bench/sip-cps.ts`. */
import { parseUri } from '../../src/sip/message/uri.ts';
import { UserAgent } from '../../src/sip/user-agent.ts';

const SDP = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=-',
  'c=IN IP4 127.0.0.1',
  't=0 0',
  'm=audio 15999 RTP/AVP 0',
  '',
].join('\r\n');

/** Calls to this user ring until they are taken back. */
const RINGING_USER = 'ring';

/** Opens UDP and TCP on the port given, says so, and answers until its input ends. */
const port = Number(process.argv[2] ?? 0);
const userAgent = new UserAgent({
  listen: [
    { protocol: 'UDP', address: '127.0.0.1', port },
    { protocol: 'TCP', address: '127.0.0.1', port },
  ],
  // Two a call for 32 seconds: enough for the highest rate of the bench.
  transactionsMax: 500_000,
});
userAgent.on('invite', (invite) => {
  invite.progress(180);
  if (parseUri(invite.request.uri).user === RINGING_USER) return;
  const { dialog } = invite.accept({ body: SDP });
  dialog.on('request', ({ respond }) => respond(200));
  dialog.on('reinvite', ({ respond }) => respond(200, { body: SDP }));
});
await userAgent.start();
console.log('listening');
process.stdin.on('end', () => void userAgent.stop()).resume();

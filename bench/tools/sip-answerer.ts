/** Answers every call at once, as a process of its own: the engine's side of `bench/sip-cps.ts`. */
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

/** Opens UDP and TCP on the port given, prints `listening`, and answers until its input ends. */
const port = Number(process.argv[2] ?? 0);
const userAgent = new UserAgent({
  listen: [
    { protocol: 'UDP', address: '127.0.0.1', port },
    { protocol: 'TCP', address: '127.0.0.1', port },
  ],
  transactionsMax: 500_000,
});
let answered = 0;
let unacknowledged = 0;
userAgent.on('invite', (invite) => {
  invite.progress(180);
  const { acknowledged, dialog } = invite.accept({ body: SDP });
  dialog.on('request', (request) => request.respond(200));
  dialog.on('reinvite', (request) => request.respond(200, { body: SDP }));
  answered += 1;
  void acknowledged.then((ack) => {
    if (ack === null) unacknowledged += 1;
  });
});

/** What the bench asks for by a line on our input. */
function report(): void {
  const { user, system } = process.cpuUsage();
  const dropped = Object.values(userAgent.counts.dropped).reduce((sum, count) => sum + count, 0);
  console.log(
    JSON.stringify({
      cpuMs: (user + system) / 1000,
      answered,
      unacknowledged,
      dropped,
      heapBytes: process.memoryUsage().heapUsed,
      ...userAgent.sizes,
      messagesIn: userAgent.counts.messagesIn,
      retransmissionsOut: userAgent.counts.retransmissionsOut,
    }),
  );
}

await userAgent.start();
console.log('listening');
process.stdin.on('data', report);
process.stdin.on('end', () => void userAgent.stop().then(() => process.exit(0)));

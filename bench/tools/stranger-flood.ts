/**
 * A scanner: INVITEs from an address that no trunk allows, at a steady rate, as a process of its own. It counts every packet that
 * comes back.
 *
 * `stranger-flood ADDRESS PORT INVITES_PER_SECOND SECONDS`, where ADDRESS is its own; prints one line of JSON: `{"sent":600,"received":0}`.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';

const [address = '', port = '0', invitesPerSecond = '0', seconds = '0'] = process.argv.slice(2);
const rate = Number(invitesPerSecond);

/** Time for the last answer, and for a 100 that is late. */
const LINGER_MS = 500;
const BEAT_MS = 10;

const socket = createSocket('udp4').bind(0, address);
await once(socket, 'listening');
let received = 0;
socket.on('message', () => {
  received += 1;
});
const us = `${address}:${socket.address().port}`;
const startedAtMs = performance.now();
const untilMs = startedAtMs + Number(seconds) * 1000;
let sent = 0;
for (let nowMs = startedAtMs; nowMs < untilMs; nowMs = performance.now()) {
  for (; sent < ((nowMs - startedAtMs) * rate) / 1000; sent += 1) {
    socket.send(inviteOf(sent), Number(port), '127.0.0.1');
  }
  await wait(BEAT_MS);
}
await wait(LINGER_MS);
socket.close();
console.log(JSON.stringify({ sent, received }));

/** As scanners send it: every one a call of its own, with a session description. */
function inviteOf(index: number): string {
  const sdp = [
    ...['v=0', `o=- 1 1 IN IP4 ${address}`, 's=-', `c=IN IP4 ${address}`, 't=0 0'],
    ...['m=audio 40000 RTP/AVP 0 8 101', 'a=rtpmap:101 telephone-event/8000', ''],
  ].join('\r\n');
  return [
    `INVITE sip:+12025550123@127.0.0.1:${port} SIP/2.0`,
    `Via: SIP/2.0/UDP ${us};branch=z9hG4bK${index}s;rport`,
    `From: "1000" <sip:1000@${us}>;tag=${index}`,
    ...[`To: <sip:+12025550123@127.0.0.1>`, `Call-ID: ${index}@${us}`, 'CSeq: 1 INVITE'],
    ...[`Contact: <sip:1000@${us}>`, 'User-Agent: VaxSIPUserAgent/3.1', 'Max-Forwards: 70'],
    ...['Content-Type: application/sdp', `Content-Length: ${sdp.length}`, '', sdp],
  ].join('\r\n');
}

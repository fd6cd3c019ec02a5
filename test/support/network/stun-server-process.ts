/**
 * A STUN server in a process of its own, for networks that the test itself is not in: tells each host the address that its
 * request came from. `stun-server-process ADDRESS PORT`: prints `ready`, and runs until its input ends.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

const [address = '127.0.0.1', port = '3478'] = process.argv.slice(2);
const socket = createSocket('udp4');

/** Success with XOR-MAPPED-ADDRESS. RFC 8489, 14.2. */
function answerTo(request: Buffer, source: { readonly address: string; readonly port: number }) {
  const answer = Buffer.alloc(32);
  request.copy(answer, 4, 4, 20);
  answer.writeUInt16BE(0x0101, 0);
  answer.writeUInt16BE(12, 2);
  answer.writeUInt16BE(0x0020, 20);
  answer.writeUInt16BE(8, 22);
  answer.writeUInt8(1, 25);
  answer.writeUInt16BE(source.port ^ 0x2112, 26);
  const octets = Buffer.from(source.address.split('.').map(Number));
  answer.writeUInt32BE((octets.readUInt32BE(0) ^ 0x2112a442) >>> 0, 28);
  return answer;
}

socket.on('message', (request, source) => {
  if (request.length >= 20) socket.send(answerTo(request, source), source.port, source.address);
});
socket.bind(Number(port), address);
await once(socket, 'listening');
process.stdout.write('ready\n');
await once(process.stdin.resume(), 'close');
socket.close();

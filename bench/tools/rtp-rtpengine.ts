/** Debian's rtpengine as a benchmark's server: relays N/2 calls of two legs each, in userspace, transcodes them, or encrypts one leg. */
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { SRTP_SUITE } from '../lib/srtp-suite.ts';

type Value = string | number | readonly Value[] | { readonly [key: string]: Value };

/** Payload type and attributes of a codec in SDP. */
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  PCMU: ['0'],
  G722: ['9'],
  opus: ['111', 'a=rtpmap:111 opus/48000/2', 'a=fmtp:111 useinbandfec=1;stereo=0'],
};

const NG_PORT = 15_999;
const REPLY_MS = 2000;

/**
 * `rtp-rtpengine N [G722|opus|srtp INLINE_KEY]`: the first leg of a call has that codec, the second PCMU. With `srtp` both have PCMU, and the
 * first is SRTP with the caller's key given, the second RTP. Reads N target ports from one line, prints `pid P` and
 * `ports p1 … pN`, a port of SRTP with a colon and rtpengine's key, and runs until its input ends.
 */
const [wish, callersKey = ''] = process.argv.slice(3);
const isSecure = wish === 'srtp';
const codec = isSecure ? undefined : wish;
const input = createInterface({ input: process.stdin });
const [line = ''] = await once(input, 'line');
const targets = String(line).split(' ').map(Number);

const daemon = spawn(
  'rtpengine',
  [
    ...['--foreground', '--log-level=1', '--table=-1', '--interface=127.0.0.1'],
    ...[`--listen-ng=127.0.0.1:${NG_PORT}`, '--port-min=16000', '--port-max=17999'],
  ],
  { stdio: 'ignore' },
);
input.once('close', () => {
  daemon.kill('SIGKILL');
  process.exit(0);
});
console.log(`pid ${daemon.pid ?? 0}`);

const socket = createSocket('udp4');
socket.bind(0, '127.0.0.1');
await once(socket, 'listening');
let cookies = 0;
while ((await ask({ command: 'ping' }).catch(() => undefined)) === undefined);

const ports: string[] = [];
for (let leg = 0; leg + 1 < targets.length; leg += 2) {
  const call = { 'call-id': `bench${leg}`, 'from-tag': 'a', ICE: 'remove' };
  const transcoded = codec === undefined ? {} : { codec: { mask: ['all'], transcode: ['PCMU'] } };
  const decrypted = isSecure ? { 'transport-protocol': 'RTP/AVP' } : {};
  const first = isSecure
    ? secureSdp(targets[leg] ?? 0)
    : sdp(targets[leg] ?? 0, FORMATS[codec ?? 'PCMU']);
  const offered = await ask({
    ...{ ...call, ...transcoded, ...decrypted },
    ...{ command: 'offer', sdp: first },
  });
  const answered = await ask({
    ...{ ...call, 'to-tag': 'b' },
    ...{ command: 'answer', sdp: sdp(targets[leg + 1] ?? 0) },
  });
  ports.push(placeIn(answered), placeIn(offered));
}
console.log(`ports ${ports.join(' ')}`);

/** Asks the daemon by its control protocol: a cookie and a bencoded dictionary, both ways. */
async function ask(request: Value): Promise<string> {
  cookies += 1;
  const cookie = `c${cookies}`;
  socket.send(`${cookie} ${bencode(request)}`, NG_PORT, '127.0.0.1');
  const signal = AbortSignal.timeout(REPLY_MS / 10);
  for (;;) {
    const [reply] = await once(socket, 'message', { signal });
    const text = String(reply);
    if (text.startsWith(`${cookie} `)) return text;
  }
}

function bencode(value: Value): string {
  if (typeof value === 'number') return `i${value}e`;
  if (typeof value === 'string') return `${Buffer.byteLength(value)}:${value}`;
  if (isList(value)) return `l${value.map(bencode).join('')}e`;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `d${entries.map(([key, item]) => bencode(key) + bencode(item)).join('')}e`;
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

function sdp(port: number, [type, ...attributes]: readonly string[] = ['0']): string {
  const head = ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0'];
  return [...head, `m=audio ${port} RTP/AVP ${type}`, ...attributes, 'a=sendrecv', ''].join('\r\n');
}

function secureSdp(port: number): string {
  const crypto = `a=crypto:1 ${SRTP_SUITE} inline:${callersKey}`;
  return sdp(port, ['0', crypto]).replace('RTP/AVP', 'RTP/SAVP');
}

/** The port in a description, and its key where it has one. */
function placeIn(reply: string): string {
  const port = /m=audio (\d+)/.exec(reply)?.[1] ?? '0';
  const key = keyIn(reply);
  return key === undefined ? port : `${port}:${key}`;
}

function keyIn(reply: string): string | undefined {
  return new RegExp(`a=crypto:1 ${SRTP_SUITE} inline:([\\w+/=]+)`).exec(reply)?.[1];
}

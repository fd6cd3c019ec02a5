/** How many files of ours an INVITE passes through on the main thread until its 200: the second call of a server. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { offer } from '../src/rtp/sdp-answer.ts';
import { startServer, type TestServer } from '../test/support/server/server.ts';
import { checkTargets, markdownTable } from './lib/harness.ts';

const NUMBER = '+12025550123';

/** The first call also enters what is set up once. */
const CALLS = 2;

const SETTLE_MS = 4000;

/** `npm run bench -- call-path [--gate]`. */
export async function run(args: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'call-path-'));
  const hook = new URL(`tools/call-path-hook.ts?folder=${folder}`, import.meta.url);
  const environment = { NODE_OPTIONS: `--import=${hook.href}` };
  const server = await (await startServer({ environment, program: 'src/main.ts' })).ready();
  try {
    await server.createAgent({ phoneNumber: NUMBER });
    for (let call = 1; call <= CALLS; call += 1) {
      // The end of the call before must not count.
      await setTimeout(SETTLE_MS);
      await ring(server, call);
    }
    const path = JSON.parse(readFileSync(join(folder, `${CALLS}.json`), 'utf8')) as Path;
    const files = Object.entries(path).sort(([a], [b]) => (a < b ? -1 : 1));
    console.log(markdownTable(files.map(([file, names]) => ({ file, functions: names.length }))));
    checkTargets(args, [
      { name: 'files from INVITE to 200', value: files.length, limit: 70, tolerance: 0.1 },
    ]);
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Names of entered functions, by file. */
type Path = Readonly<Record<string, readonly string[]>>;

/** Rings, is answered, acknowledges and hangs up. */
async function ring(server: TestServer, call: number): Promise<void> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  const uri = `sip:${NUMBER}@127.0.0.1:${server.sipPort}`;
  const body = offer({ address: '127.0.0.1', port: 40_000, sessionId: 2, version: 9 });
  const send = (method: string, number: number, to: string, text = '') => {
    const lines = [
      `${method} ${uri} SIP/2.0`,
      `Via: SIP/2.0/UDP 127.0.0.1:${port};branch=z9hG4bK${method}${call}`,
      'Max-Forwards: 70',
      `From: <sip:+12025550187@127.0.0.1>;tag=${call}`,
      `To: ${to}`,
      `Call-ID: call-path-${call}`,
      `CSeq: ${number} ${method}`,
      `Contact: <sip:127.0.0.1:${port}>`,
      ...(text === '' ? [] : ['Content-Type: application/sdp']),
      `Content-Length: ${text.length}`,
    ];
    socket.send([...lines, '', text].join('\r\n'), server.sipPort, '127.0.0.1');
  };
  send('INVITE', 1, `<${uri}>`, body);
  let answer = '';
  while (!answer.startsWith('SIP/2.0 200')) answer = String((await once(socket, 'message'))[0]);
  const to = /^To: *(.*)$/im.exec(answer)?.[1]?.trim() ?? '';
  send('ACK', 1, to);
  send('BYE', 2, to);
  while (!/CSeq: 2 BYE/i.test(answer)) answer = String((await once(socket, 'message'))[0]);
  socket.close();
}

if (import.meta.main) await run(process.argv.slice(2));

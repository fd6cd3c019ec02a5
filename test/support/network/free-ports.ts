/** Ports that are free at this moment. */
import { createSocket } from 'node:dgram';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Below what systems give to sockets that want any port, so that none of those takes it meanwhile. */
const FIRST = 10_000;
const COUNT = 6000;

/** `fetch` refuses it. @see https://fetch.spec.whatwg.org/#port-blocking: the only one of these ports */
const BLOCKED = 10_080;

/** Where this process looks next: others begin elsewhere, and none is given out twice. */
let offset = Math.floor(Math.random() * COUNT);

/** A file for each port that a process has given out: the port of a server that is being restarted looks free. */
const CLAIMS = join(tmpdir(), 'offhook-test-ports');
const claimed: string[] = [];
process.once('exit', () => {
  for (const file of claimed) rmSync(file, { force: true });
});

/** A port that is free for TCP and UDP on 127.0.0.1; the next one, where SIP programs have their TLS, is not given out. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < COUNT / 2; attempt += 1) {
    offset = (offset + 2) % COUNT;
    const port = FIRST + offset;
    if (port === BLOCKED) continue;
    if ((await isFreeForTcp(port)) && (await isFreeForUdp(port)) && claim(port)) return port;
  }
  throw new Error(
    `Cannot find a port that is free for TCP and UDP from ${FIRST} on: ${COUNT / 2} tried`,
  );
}

/** Takes the port for this process. @returns false where another living process has it. */
function claim(port: number): boolean {
  const file = join(CLAIMS, String(port));
  mkdirSync(CLAIMS, { recursive: true });
  if (existsSync(file) && !isAlive(Number(readFileSync(file, 'utf8'))))
    rmSync(file, { force: true });
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
  } catch {
    return false;
  }
  claimed.push(file);
  return true;
}

function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}

function isFreeForTcp(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

function isFreeForUdp(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    socket.once('error', () => resolve(false));
    socket.bind(port, '127.0.0.1', () => socket.close(() => resolve(true)));
  });
}

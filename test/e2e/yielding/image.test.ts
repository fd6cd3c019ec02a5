/** What the Dockerfile puts together must start there: as its user, on a tree that it may only read. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../support/network/free-ports.ts';
import { execForm } from '../../support/server/dockerfile.ts';
import {
  type BuiltImage,
  buildImage,
  type Ended,
  PATH,
  type Place,
  run,
} from '../../support/server/image-build.ts';

const folder = mkdtempSync(join(tmpdir(), 'offhook-image-'));
const data = join(folder, 'data');

let image: BuiltImage;
let place: Place;
let server: ChildProcess | undefined;
/** Why nothing can be shown here. */
let unreachable: string | undefined;

/** npm's and the resolver's words for a registry that cannot be reached. */
const NO_REGISTRY =
  /\b(ENOTCACHED|EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ENETUNREACH|ETIMEDOUT|SELF_SIGNED_CERT_IN_CHAIN)\b/;

beforeAll(async () => {
  try {
    image = await buildImage(folder);
  } catch (error) {
    unreachable = NO_REGISTRY.exec(String(error))?.[0];
    if (unreachable === undefined) throw error;
    process.stderr.write(`image.test.ts skipped: no package registry (${unreachable})\n`);
    return;
  }
  for (const path of [folder, data]) mkdirSync(path, { recursive: true });
  chmodSync(folder, 0o755);
  chmodSync(data, 0o777);
  await run(['chmod', '-R', 'a-w', image.app], { cwd: folder, env: { PATH } });
  const [port, sipPort] = [String(await freePort()), String(await freePort())];
  const ports = { PORT: port, SIP_PORT: sipPort, RTP_PORTS: '25000-25099' };
  const folders = { DATA_DIR: data, MODELS_DIR: join(folder, 'no-models') };
  const env = { PATH, NODE_ENV: 'production', HOST: '127.0.0.1', LLM: 'scripted' };
  place = { cwd: image.app, env: { ...env, ...ports, ...folders }, ...(await identity()) };
}, 300_000);

afterAll(async () => {
  server?.kill('SIGKILL');
  await run(['chmod', '-R', 'u+w', folder], { cwd: '/', env: { PATH } });
  rmSync(folder, { recursive: true, force: true });
});

/** The image's user, where this one may become it and it may read this Node. */
async function identity(): Promise<Pick<Place, 'uid' | 'gid'>> {
  const [uid = 0, gid = 0] = image.argsOf('USER').split(':').map(Number);
  const isRoot = process.getuid?.() === 0;
  const tried =
    isRoot && (await run(['node', '--version'], { cwd: folder, env: { PATH }, uid, gid }));
  if (tried && tried.status === 0) return { uid, gid };
  process.stderr.write('image.test.ts: runs as this user, because it may not become another\n');
  return {};
}

function healthCheck(): Promise<Ended> {
  return run(execForm(image.argsOf('HEALTHCHECK').replace(/^.* CMD /, '')) ?? [], place);
}

async function untilHealthy(): Promise<void> {
  for (let asked = 0; asked < 60; asked += 1) {
    if ((await healthCheck()).status === 0) return;
    await wait(500);
  }
}

test('the image has the packages of production, for this system only', ({ skip }) => {
  skip(unreachable !== undefined);
  const modules = join(image.app, 'node_modules');
  const onnx = join(modules, 'onnxruntime-node/bin/napi-v6');

  expect(image.leftOut.map((step) => step.split(' ', 1)[0])).toEqual(['apt-get', 'groupadd']);
  expect(
    ['vitest', 'vite', 'rolldown', 'typescript', 'espeak-ng'].filter((name) =>
      existsSync(join(modules, name)),
    ),
  ).toEqual([]);
  expect(existsSync(join(image.app, 'dist/dashboard/index.html'))).toBe(true);
  expect(existsSync(join(image.app, 'dist/manual/index.html'))).toBe(true);
  expect(readdirSync(onnx).flatMap((system) => readdirSync(join(onnx, system)))).toEqual([
    process.arch,
  ]);
});

test('the image starts as its user, gets healthy, takes an admin command, and ends by its stop signal', async ({
  skip,
}) => {
  skip(unreachable !== undefined);
  const printed: string[] = [];
  const before = await healthCheck();

  const [program = '', ...words] = execForm(image.argsOf('CMD')) ?? [];
  server = spawn(program, words, { ...place, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve) => server?.on('exit', resolve));
  for (const stream of [server.stdout, server.stderr]) {
    stream?.on('data', (chunk) => printed.push(String(chunk)));
  }
  await untilHealthy();
  const ready = await fetch(`http://127.0.0.1:${place.env?.PORT}/readyz`).then(
    ({ status }) => status,
    () => 0,
  );
  const admin = await run(['node', 'dist/server/admin.js', 'account', 'list', '--json'], place);
  server.kill(image.argsOf('STOPSIGNAL') as NodeJS.Signals);
  const status = await ended;
  const after = await healthCheck();

  expect(before).toMatchObject({ status: 1, output: expect.stringContaining('not healthy') });
  expect(ready, printed.join('')).toBe(200);
  expect(admin).toMatchObject({ status: 0, output: expect.stringContaining('acct_') });
  expect([status, after.status]).toEqual([0, 1]);
  expect(existsSync(join(data, 'offhook.db'))).toBe(true);
});

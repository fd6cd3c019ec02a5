/** What the pages have to be typed against a running server works as it stands: curl, and the operator's commands. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Phone } from '../../../examples/phone/phone.ts';
import { isRun, isRunPage, scriptsIn } from '../../support/server/documented-commands.ts';
import { describeWith } from '../../support/server/programs.ts';
import { LIVE_KEY, startServer, TEST_KEY, type TestServer } from '../../support/server/server.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** None that a page gives to an agent of its own. */
const NUMBER = '+12025550188';

/** Listening in and handing over want a call in progress; the one here is over. */
const WANTS_A_LIVE_CALL = /\/calls\/[^/]+\/(audio|transfer)$/;

/** The program of that name, with the status of each answer in `STATUSES`; streams that never end are cut. */
const CURL = `#!/bin/sh
curl=$(PATH=/usr/local/bin:/usr/bin:/bin command -v curl)
case "$*" in */live/calls*) limit=2 ;; *) limit=60 ;; esac
"$curl" --silent --show-error --max-time $limit --output /tmp/documented.$$ \\
  --write-out '%{http_code} %{method} %{url_effective}\\n' "$@" >> "$STATUSES"
status=$?
cat /tmp/documented.$$ && rm -f /tmp/documented.$$
[ $status = 0 ] || [ $status = 28 ]
`;

/** Pages in the order in which their commands run: privacy erases what the others show. */
const PAGES = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md'], { cwd: ROOT })
  .filter(isRunPage)
  .sort()
  .toSorted((one, other) => Number(one.includes('privacy')) - Number(other.includes('privacy')));

/** Scripts for a running server; a restore wants it stopped, and has its own test (admin.test.ts). */
const SCRIPTS = PAGES.flatMap((page) =>
  scriptsIn(readFileSync(join(ROOT, page), 'utf8'))
    .filter((script) => isRun(page, script))
    .map((script) => [page, script.replace(/^npm run admin -- restore .*\n/gm, '')] as const),
);

describeWith(['curl', 'jq'], 'the pages', () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-documented-'));
  let server: TestServer;
  let environment: Readonly<Record<string, string>>;
  let placeholders: readonly (readonly [string, string])[];

  beforeAll(async () => {
    for (const [name, text] of [
      ['curl', CURL],
      ['play', '#!/bin/sh\ncat > /dev/null\n'],
    ] as const) {
      writeFileSync(join(folder, name), text);
      chmodSync(join(folder, name), 0o755);
    }
    server = await (await startServer({ environment: { WEBHOOK_ALLOW_LOCAL: 'true' } })).ready();
    const agent = await server.createAgent({ phoneNumber: NUMBER });
    for (const greeting of ['One.', 'Two.', 'Three.']) {
      await server.api('PATCH', `/api/agents/${agent}`, { greeting });
    }
    const { body } = await server.api('GET', '/api/account');
    const testAgent = await createTestAgent(server);
    environment = {
      PATH: `${folder}:${join(ROOT, 'node_modules/.bin')}:/usr/local/bin:/usr/bin:/bin`,
      HOME: folder,
      DATA_DIR: server.dataDir,
      STATUSES: join(folder, 'statuses'),
      URL: server.baseUrl,
      ...{ KEY: LIVE_KEY, ADMIN_KEY: LIVE_KEY, TEST_KEY },
      ...{ AGENT: agent, CALL: await callOnce(server) },
    };
    placeholders = [
      ['http://localhost:3000', server.baseUrl],
      ['svc_live_…', LIVE_KEY],
      ['svc_test_…', TEST_KEY],
      ['agent_…', testAgent],
      ['acct_…', String(body.id)],
      ['/backup/', `${folder}/`],
    ];
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** What it printed, and how each request of it was answered. */
  async function run(script: string) {
    const text = placeholders.reduce((all, [from, to]) => all.replaceAll(from, to), script);
    writeFileSync(environment.STATUSES ?? '', '');
    const child = spawn('sh', ['-euc', text], { cwd: ROOT, env: environment });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
    }
    const [status] = await once(child, 'close');
    const answers = readFileSync(environment.STATUSES ?? '', 'utf8')
      .trim()
      .split('\n');
    return { status, output, answers: answers.filter((line) => line !== '') };
  }

  test('have such commands', () => {
    expect(SCRIPTS.length).toBeGreaterThan(20);
  });

  test.each(SCRIPTS)('%s: %s', async (_, script) => {
    const { status, output, answers } = await run(script);
    const bad = answers.filter((line) =>
      WANTS_A_LIVE_CALL.test(line) ? !line.startsWith('409') : !line.startsWith('2'),
    );

    expect(bad, output).toEqual([]);
    expect(status, output).toBe(0);
    expect(answers).toHaveLength(script.match(/^ *curl /gm)?.length ?? 0);
  });
});

async function createTestAgent(server: TestServer): Promise<string> {
  const response = await fetch(`${server.baseUrl}/api/agents`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ name: 'Reception', greeting: 'Hello.', systemPrompt: 'You are brief.' },
      phoneNumber: NUMBER,
    }),
  });
  return String(((await response.json()) as { readonly id: string }).id);
}

/** Has a call come in, which is over with its recording when this resolves with its id. */
async function callOnce(server: TestServer): Promise<string> {
  const phone = new Phone();
  await phone.start();
  const call = await phone.call(`sip:${NUMBER}@127.0.0.1:${server.sipPort}`);
  const id = await server.callInProgress();
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  await call.hangUp();
  await server.endedCalls();
  await phone.stop();
  return id;
}

/**
 * docs/deploy.md as it is typed, in namespaces whose processes, /etc, /opt and /var/lib are the test's own. As root. Doubles: systemctl does
 * what systemd would with our unit, docker reads the compose file and starts nothing, git copies this checkout, `npm ci` mounts its packages.
 */
import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeBlocksOf } from '../../docs/code-blocks.ts';
import { freePort } from '../../support/network/free-ports.ts';
import { describeWithout, hasProgram } from '../../support/server/programs.ts';

const ROOT = join(import.meta.dirname, '../../..');
const BLOCKS = codeBlocksOf('docs/deploy.md')
  .filter(({ tag }) => tag === 'sh operator')
  .map(({ text }) => text);

/** What is started inside ends with the shell. */
const NAMESPACES = ['--mount', '--propagation', 'private', '--pid', '--fork', '--mount-proc'];

/** Three builds and two starts, next to other tests. */
const BLOCKS_MS_MAX = 240_000;

const hasNamespaces =
  spawnSync('unshare', [...NAMESPACES, 'mount', '-t', 'tmpfs', 't', '/opt']).status === 0;

/** Files of the checkout, as a clone of it would have them. */
const GIT = `#!/bin/sh -eu
[ "$1" = clone ]
mkdir -p "$3"
cd ${ROOT}
git=$(PATH=/usr/local/bin:/usr/bin:/bin command -v git)
"$git" ls-files --cached --others --exclude-standard -z | tar --null --files-from=- --ignore-failed-read -c | tar -x -C "$3"
`;

/** Runs the scripts of package.json, with the Node that the packages bring. */
const NPM = `#!/bin/sh -eu
if [ "$1" = ci ]; then
  mkdir -p node_modules
  exec mount --bind ${ROOT}/node_modules node_modules
fi
[ "$1" = run ]
export PATH="$PWD/node_modules/.bin:$PATH"
script=$(node -p 'require("./package.json").scripts[process.argv[1]]' "$2")
shift 2
[ "\${1-}" != -- ] || shift
exec sh -c "$script \\"\\$@\\"" sh "$@"
`;

const SUDO = '#!/bin/sh -eu\n[ "$1" = -u ]\nuser=$2\nshift 2\nexec runuser -u "$user" -- "$@"\n';

/**
 * `enable --now` makes the state folder and starts our unit's program as its user; of others it reads the unit. `restart` first stops it.
 */
const SYSTEMCTL = `#!/bin/sh -eu
if [ "$1" = daemon-reload ]; then exit 0; fi
if [ "$1" = restart ]; then
  pkill -TERM --oldest --euid offhook
  while pgrep --euid offhook > /dev/null; do sleep 0.1; done
  shift
else
  [ "$1 $2" = "enable --now" ]
  shift 2
fi
for name in "$@"; do
  unit=/etc/systemd/system/$name.service
  of() { sed -n "s/^$1=-*//p" "$unit"; }
  [ -n "$(of ExecStart)" ]
  if [ "$name" != offhook ]; then continue; fi
  install -d -m "$(of StateDirectoryMode)" -o "$(of User)" -g "$(of Group)" "/var/lib/$(of StateDirectory)"
  cd "$(of WorkingDirectory)"
  settings=$(grep -v '^#' "$(of EnvironmentFile)" | grep = || true)
  setsid runuser -u "$(of User)" -- env -i PATH=/usr/bin:/bin $(of Environment) $settings $PORTS $(of ExecStart) >> "$LOG" 2>&1 &
  waited=0
  until curl -sf "http://127.0.0.1:$HTTP_PORT/readyz" > "$LOG.readyz"; do
    [ $((waited += 1)) -lt 300 ] || { cat "$LOG"; exit 1; }
    sleep 0.1
  done
done
`;

const JOURNALCTL = '#!/bin/sh -eu\n[ "$1" = -u ]\ncat "$LOG"\n';

/** Without an engine: whether the compose file has the profiles and services; what runs in `app` runs here. */
const DOCKER = `#!/bin/sh -eu
[ "$1" = compose ]
shift
profiles=""
while [ "$1" = --profile ]; do profiles="$profiles --profile $2"; shift 2; done
has() { docker-compose $profiles config --services 2> /dev/null | grep -qx "$1"; }
verb=$1
shift
case $verb in
  down) ;;
  up) [ "$1" = -d ]; shift; for service in "$@"; do has "$service"; done; [ -n "$(docker-compose $profiles config --services 2> /dev/null)" ] ;;
  logs) has "$1" ;;
  exec) has "$1"; shift; PATH="$PWD/node_modules/.bin:$PATH" DATA_DIR=/var/lib/offhook "$@" ;;
  *) exit 125 ;;
esac
`;

const DOUBLES = {
  ...{ git: GIT, npm: NPM, sudo: SUDO, systemctl: SYSTEMCTL, journalctl: JOURNALCTL },
  docker: DOCKER,
} as const;

const missing = [
  ...(hasNamespaces ? [] : ['mount namespaces']),
  ...['curl', 'docker-compose', 'openssl', 'pkill', 'runuser', 'setsid'].filter(
    (name) => !hasProgram(name),
  ),
];

describeWithout(missing, 'docs/deploy.md', () => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-deploy-'));
  let output = '';

  beforeAll(async () => {
    for (const [name, text] of Object.entries(DOUBLES)) {
      mkdirSync(join(folder, 'bin'), { recursive: true });
      writeFileSync(join(folder, 'bin', name), text);
      chmodSync(join(folder, 'bin', name), 0o755);
    }
    chmodSync(folder, 0o755);
    const [http, sip] = [await freePort(), await freePort()];
    const script = [
      `mkdir ${folder}/etc && cp -a /etc/. ${folder}/etc && mount --bind ${folder}/etc /etc`,
      'mount -t tmpfs -o mode=755 t /opt && mount -t tmpfs -o mode=755 t /var/lib',
      'mkdir -p /etc/systemd/system',
      ...BLOCKS.map((text, index) => [`echo "== block ${index}"`, text].join('\n')),
      `for path in / /manual/ /docs; do curl -s -o /dev/null -w "$path %{http_code}\\n" http://127.0.0.1:${http}$path; done`,
      'readlink "/proc/$(pgrep --oldest --euid offhook)/cwd"',
      'stat -c "%n %a %U:%G" /etc/offhook /etc/offhook/*.env /var/lib/offhook /var/lib/offhook/*',
    ];
    const typed = script
      .join('\n')
      .replaceAll('<where you have it from>', 'https://example.com/offhook');
    const env = {
      PATH: `${folder}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
      ...{ LOG: `${folder}/log`, HTTP_PORT: String(http) },
      PORTS: `PORT=${http} SIP_PORT=${sip} RTP_PORTS=24000-24999 LLM=scripted`,
    };
    const ended = await promisify(execFile)('unshare', [...NAMESPACES, 'sh', '-euc', typed], {
      ...{ cwd: folder, env },
    }).catch((error: { readonly stdout: string; readonly stderr: string }) => {
      throw new Error(`A command of docs/deploy.md failed:\n${error.stdout}\n${error.stderr}`);
    });
    output = ended.stdout;
  }, BLOCKS_MS_MAX);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('every block runs to its end', () => {
    expect(BLOCKS.length).toBeGreaterThan(3);
    expect(output.match(/^== block \d+$/gm)).toHaveLength(BLOCKS.length);
  });

  test('the unit’s program serves the dashboard, the manual and the reference', () => {
    expect(output).toMatch(/^\/ 200$/m);
    expect(output).toMatch(/^\/manual\/ 200$/m);
    expect(output).toMatch(/^\/docs 200$/m);
  });

  test('after the upgrade the server runs from the folder of the new version', () => {
    expect(output).toMatch(/^\/opt\/offhook-2$/m);
  });

  test('the voice detector is prepared, and the journal shows the keys', () => {
    const readyz = JSON.parse(readFileSync(`${folder}/log.readyz`, 'utf8'));

    expect(readyz.engines.find(({ job }: { readonly job: string }) => job === 'vad')).toMatchObject(
      {
        ...{ engine: 'silero', limitation: null },
      },
    );
    expect(readFileSync(`${folder}/log`, 'utf8')).not.toMatch(/not prepared/);
    expect(readFileSync(`${folder}/log`, 'utf8')).toContain('in \\"/var/lib/offhook/models\\"');
    expect(output).toMatch(/svc_live_\w{32}/);
  });

  test('settings are the service’s to read, data is its own', () => {
    expect(output).toMatch(/^\/etc\/offhook 750 root:offhook$/m);
    expect(output).toMatch(/^\/etc\/offhook\/offhook.env 640 root:offhook$/m);
    expect(output).toMatch(/^\/etc\/offhook\/servers.env 600 root:root$/m);
    expect(output).toMatch(/^\/var\/lib\/offhook 7[05]0 offhook:offhook$/m);
    expect(output).toMatch(/^\/var\/lib\/offhook\/offhook\.db 600 offhook:offhook$/m);
  });
});

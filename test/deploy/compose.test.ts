import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../src/config/config.ts';
import { describeWith } from '../support/server/programs.ts';
import { type Compose, type ComposeContext, composeProblems } from './compose-rules.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const TEXT = read('docker-compose.yml');
const FREESWITCH = read('sip-config/freeswitch/freeswitch.xml');
const DRACHTIO = read('sip-config/drachtio.conf.xml');

const folder = mkdtempSync(join(tmpdir(), 'offhook-compose-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function composeOf(text: string): Compose {
  return parse(text, { merge: true });
}

const compose = composeOf(TEXT);
const VERSION = String(JSON.parse(read('package.json')).version);

/** A setting is what the server puts into its configuration, or refuses by name. */
function isServerSetting(name: string): boolean {
  try {
    return name in readConfig({ [name]: 'x' });
  } catch (error) {
    return String(error).includes(name);
  }
}

const CONTEXT: ComposeContext = {
  knows: (image, name) => {
    if (image.startsWith('offhook:')) return isServerSetting(name);
    return !image.includes('freeswitch') || FREESWITCH.includes(`=$${name}"`);
  },
  exists: (path) => existsSync(join(ROOT, path)),
};

test.each([
  ['drachtio', ['app', 'drachtio', 'freeswitch', 'ollama', 'ollama-pull']],
  ['embedded', ['embedded']],
  [undefined, []],
])('docker-compose.yml has "up" start with the profile %s, first and as an upgrade: %j', (profile, expected) => {
  const started = Object.entries(compose.services).filter(
    ([, { profiles }]) => profiles === undefined || (profile && profiles.includes(profile)),
  );

  expect(started.map(([name]) => name)).toEqual(expected);
});

test('docker-compose.yml passes on what trunks and language models need of .env', () => {
  const passed = [compose.services.app, compose.services.embedded].map((service) =>
    ['SIP_TRUNKS', 'OPENAI_API_KEY'].map((name) => service?.environment?.[name]),
  );

  expect(passed).toEqual([
    [null, null],
    [null, null],
  ]);
});

test('docker-compose.yml keeps every rule', () => {
  expect(composeProblems(compose, CONTEXT)).toEqual([]);
});

/** One change, and what must be said of it. */
const BREACHES: readonly (readonly [string, string, string])[] = [
  ['prometheus: image without a whole version', 'prom/prometheus:v3.5.0', 'prom/prometheus:latest'],
  ['prometheus: image without a whole version', 'prom/prometheus:v3.5.0', 'prom/prometheus'],
  [
    'drachtio: privileged',
    'image: drachtio/drachtio-server',
    'privileged: true\n    image: drachtio/drachtio-server',
  ],
  [
    'drachtio: adds capabilities',
    'image: drachtio/drachtio-server',
    'cap_add: [SYS_NICE]\n    image: drachtio/drachtio-server',
  ],
  [
    'drachtio: keeps capabilities',
    'image: drachtio/drachtio-server',
    'cap_drop: []\n    image: drachtio/drachtio-server',
  ],
  [
    'drachtio: may write to its image',
    'image: drachtio/drachtio-server',
    'read_only: false\n    image: drachtio/drachtio-server',
  ],
  ['freeswitch: no limit of memory', '    mem_limit: 2g\n', ''],
  ['freeswitch: no limit of processes', '    pids_limit: 4096\n', ''],
  ['ollama: port open to everybody', '127.0.0.1:11434:11434', '11434:11434'],
  ['app: unknown setting TELEFONY', '      TELEPHONY: drachtio', '      TELEFONY: drachtio'],
  ['freeswitch: unknown setting FREESWITCH_RTP', 'FREESWITCH_RTP_ADDRESS:', 'FREESWITCH_RTP:'],
  [
    'app: secret in the environment: DRACHTIO_SECRET',
    'DRACHTIO_SECRET_FILE: /run',
    'DRACHTIO_SECRET: /run',
  ],
  [
    'app: not given: freeswitch_secret',
    'secrets: [drachtio_secret, freeswitch_secret]',
    'secrets: [drachtio_secret]',
  ],
  [
    'drachtio: nothing at ./sip-config/no.xml',
    './sip-config/drachtio.conf.xml:',
    './sip-config/no.xml:',
  ],
  [
    'drachtio: may write to ./sip-config/drachtio.conf.xml',
    'drachtio.conf.xml:ro',
    'drachtio.conf.xml',
  ],
  ['grafana: no volume grafana', '- grafana-data:', '- grafana:'],
  [
    'grafana: waits wrongly for prometheus',
    'prometheus: { condition: service_healthy }',
    'prometheus: { condition: service_started }',
  ],
  [
    'app: waits wrongly for ollama-pull',
    'ollama-pull: { condition: service_completed_successfully }',
    'ollama-pull: { condition: service_healthy }',
  ],
  ['ollama: no health check', 'test: ["CMD", "ollama", "list"]', 'test: NONE'],
];

test.each(
  BREACHES,
)('docker-compose.yml that breaks a rule is found out: %s', (problem, from, to) => {
  const changed = TEXT.replace(from, to);

  expect(changed).not.toBe(TEXT);
  expect(composeProblems(composeOf(changed), CONTEXT)).toContain(problem);
});

test('docker-compose.yml stops the server later than it has drained', () => {
  const problems = composeProblems(composeOf(TEXT.replace('61m', '60m')), CONTEXT);

  expect(problems).toEqual([
    'app: is killed while it drains',
    'embedded: is killed while it drains',
  ]);
});

test('docker-compose.yml builds the version that package.json has, and pulls the model that is the default', () => {
  const { app, embedded } = compose.services;
  const pulled = compose.services['ollama-pull']?.environment?.OLLAMA_MODEL;

  expect([app?.image, embedded?.image]).toEqual([`offhook:${VERSION}`, `offhook:${VERSION}`]);
  expect(pulled).toBe(`\${OLLAMA_MODEL:-${readConfig({}).OLLAMA_MODEL}}`);
});

test('docker-compose.yml, the two SIP servers and the settings name the same ports, and no port twice', () => {
  const { DRACHTIO_PORT, FREESWITCH_PORT, RTP_PORTS, SIP_PORT, OLLAMA_HOST } = readConfig({});
  const given = (name: string) => Number(new RegExp(`data="${name}=(\\d+)"`).exec(FREESWITCH)?.[1]);
  const checks = ['drachtio', 'freeswitch'].map((name) =>
    compose.services[name]?.healthcheck?.test?.at(-1),
  );

  expect(DRACHTIO).toContain(`<admin port="${DRACHTIO_PORT}"`);
  expect(DRACHTIO).toMatch(new RegExp(`<contact>sip:[^<]*:${SIP_PORT};`));
  expect(checks).toEqual([
    expect.stringContaining(`/127.0.0.1/${DRACHTIO_PORT}`),
    expect.stringContaining(`/127.0.0.1/${FREESWITCH_PORT}`),
  ]);
  expect(given('event_port')).toBe(FREESWITCH_PORT);
  expect(given('rtp_first') > RTP_PORTS.last || given('rtp_last') < RTP_PORTS.first).toBe(true);
  expect(compose.services.ollama?.ports).toEqual([`127.0.0.1:${new URL(OLLAMA_HOST).port}:11434`]);
});

test('observability/ scrapes the default port, and Grafana asks the Prometheus of the compose file', () => {
  const prometheus = parse(read('observability/prometheus.yml'));
  const { datasources } = parse(
    read('observability/grafana/provisioning/datasources/prometheus.yml'),
  );

  expect(prometheus.scrape_configs[0].static_configs[0].targets).toEqual([
    `127.0.0.1:${readConfig({}).PORT}`,
  ]);
  expect(datasources[0].url).toBe('http://127.0.0.1:9090');
  expect(TEXT).toContain('--web.listen-address=127.0.0.1:9090');
});

test('make-secrets.sh makes every secret once, for its containers and no other user of the host', () => {
  const script = join(folder, 'examples/deploy/make-secrets.sh');
  mkdirSync(join(folder, 'examples/deploy'), { recursive: true });
  cpSync(join(ROOT, 'examples/deploy/make-secrets.sh'), script);
  const secrets = join(folder, 'secrets');
  const texts = () => readdirSync(secrets).map((name) => readFileSync(join(secrets, name), 'utf8'));

  const first = spawnSync('sh', [script], { encoding: 'utf8' });
  const made = texts();
  const second = spawnSync('sh', [script], { encoding: 'utf8' });

  expect([first.status, second.status, second.stdout]).toEqual([0, 0, '']);
  expect(readdirSync(secrets)).toEqual(Object.keys(compose.secrets));
  expect(made).toEqual([
    expect.stringMatching(/^[0-9a-f]{64}$/),
    expect.stringMatching(/^[0-9a-f]{64}$/),
  ]);
  expect(new Set(made).size).toBe(2);
  expect(texts()).toEqual(made);
  expect(statSync(secrets).mode & 0o777).toBe(0o700);
  expect(read('.gitignore').split('\n')).toContain('secrets/');
});

describeWith(['docker-compose'], 'docker-compose config', () => {
  /** What `docker-compose` says with these lines in `.env`. */
  function compositionOf(settings: string) {
    for (const name of [
      'docker-compose.yml',
      'sip-config',
      'observability',
      'examples/freeswitch',
    ]) {
      cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    }
    writeFileSync(join(folder, '.env'), settings);
    const file = join(folder, 'docker-compose.yml');
    return spawnSync('docker-compose', ['--file', file, 'config'], {
      cwd: folder,
      encoding: 'utf8',
    });
  }

  test.each([
    ['drachtio', 'app'],
    ['embedded', 'embedded'],
    ['drachtio,observability', 'app'],
  ])('takes the file with the profiles %s', (profiles, server) => {
    const settings = `COMPOSE_PROFILES=${profiles}\nMAX_CALLS=7\nSIP_TRUNKS=mine.json\nOPENAI_API_KEY=key\n`;

    const { status, stdout, stderr } = compositionOf(settings);

    expect(stderr).toBe('');
    expect(status).toBe(0);
    expect(composeOf(stdout).services[server]?.environment).toMatchObject({
      MAX_CALLS: '7',
      SIP_TRUNKS: 'mine.json',
      OPENAI_API_KEY: 'key',
    });
  });
});

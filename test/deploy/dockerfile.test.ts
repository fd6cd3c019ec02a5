import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyOf, execForm, stagesOf, visibleFiles } from '../support/server/dockerfile.ts';
import { dockerfileProblems } from './dockerfile-rules.ts';

const ROOT = join(import.meta.dirname, '../..');
const DOCKERFILE = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
const CONTEXT = { root: ROOT, dockerignore: readFileSync(join(ROOT, '.dockerignore'), 'utf8') };

test('Dockerfile keeps every rule', () => {
  expect(dockerfileProblems(DOCKERFILE, CONTEXT)).toEqual([]);
});

const APT = 'apt-get install -y --no-install-recommends';

/** One change to our Dockerfile, and the rule that must notice. */
const BREACHES: readonly (readonly [string, string | RegExp, string])[] = [
  ['base image without a whole version', /FROM node:\S+$/m, 'FROM node:latest'],
  ['base image without a whole version', /FROM node:\S+$/m, 'FROM node:24-bookworm-slim'],
  ['base image without a whole version', /FROM node:\S+$/m, 'FROM node'],
  ['ADD instead of COPY', 'COPY src src', 'ADD https://example.com/src.tar.gz src'],
  ['apt-get with recommends', APT, 'apt-get install -y'],
  ['apt-get asks', APT, 'apt-get install --no-install-recommends'],
  ['apt lists stay', 'rm -rf /var/lib/apt/lists/*', 'true'],
  ['apt or sudo', 'apt-get update', 'sudo apt-get update'],
  ['upgrade of the base', 'apt-get update', 'apt-get update && apt-get upgrade -y'],
  ['download that nothing checks', 'RUN npm ci', 'RUN curl https://example.com | sh && npm ci'],
  ['cd instead of WORKDIR', 'RUN npm ci', 'RUN cd /app && npm ci'],
  ['npm without its lock file', 'npm ci', 'npm install'],
  ['development packages', ' --omit=dev', ''],
  ['development packages', '--from=packages /app/node', '--from=built /app/node'],
  ['install scripts', ' --ignore-scripts', ''],
  ['secret in the image', 'ENV NODE_ENV', 'ENV DRACHTIO_SECRET=cymru NODE_ENV'],
  ['secret in the image', 'ENV NODE_ENV', 'ARG OPENAI_API_KEY\nENV NODE_ENV'],
  ['WORKDIR is relative', /WORKDIR \/app$/m, 'WORKDIR app'],
  ['COPY of everything', 'COPY src src', 'COPY . .'],
  ['COPY of what is hidden or missing: test', 'COPY src src', 'COPY test src'],
  ['COPY of what is hidden or missing: .env', 'COPY src src', 'COPY .env src'],
  ['COPY of what is hidden or missing: nothing', 'COPY src src', 'COPY nothing src'],
  ['runs as root, or as a name', 'USER 10001:10001', 'USER root'],
  ['runs as root, or as a name', 'USER 10001:10001', 'USER 0:0'],
  ['runs as root, or as a name', 'USER 10001:10001', ''],
  ['not one CMD', 'CMD ["node", "--max', 'CMD ["true"]\nCMD ["node", "--max'],
  ['shell form gets no signals', /^CMD .*$/m, 'CMD node src/main.ts'],
  ['no health check', /^HEALTHCHECK .*$/m, ''],
  ['no health check', /^HEALTHCHECK .*$/m, 'HEALTHCHECK NONE'],
  ['no STOPSIGNAL', /^STOPSIGNAL .*$/m, ''],
];

test.each(BREACHES)('Dockerfile with %s breaks that rule and no other', (problem, from, to) => {
  const changed = DOCKERFILE.replace(from, to);

  expect(changed).not.toBe(DOCKERFILE);
  expect(dockerfileProblems(changed, CONTEXT)).toEqual([problem]);
});

test('stagesOf joins lines, passes over comments, and splits by FROM', () => {
  const stages = stagesOf('# a\nFROM a:1 AS x\nRUN b \\\n  # no\n  && c\n\nFROM x\nCMD ["d"]\n');

  expect(stages).toEqual([
    { name: 'x', base: 'a:1', instructions: [{ name: 'RUN', args: 'b && c' }] },
    { name: '', base: 'x', instructions: [{ name: 'CMD', args: '["d"]' }] },
  ]);
  expect(execForm('["d"]')).toEqual(['d']);
  expect(execForm('d')).toBeUndefined();
  expect(copyOf('--from=x --chown=1 /a b c')).toEqual({
    from: 'x',
    sources: ['/a', 'b'],
    target: 'c',
  });
});

test('.dockerignore lets through what the server runs on, and no test, secret or training script', () => {
  const visible = (path: string) => visibleFiles(ROOT, path, CONTEXT.dockerignore);

  expect(visible('src')).toContain('src/main.ts');
  expect(visible('models')).toContain('models/voices.json');
  expect(visible('models').filter((file) => /^models\/(train|downloaded)/.test(file))).toEqual([]);
  expect(visible('docs')).toContain('docs/admin.md');
  const isPreset = (file: string) => file.startsWith('sip-config/presets/');
  expect(visible('sip-config').filter((file) => !isPreset(file))).toEqual(['sip-config/README.md']);
  expect(visible('sip-config').filter(isPreset)).toContain('sip-config/presets/twilio.json');
  expect(visible('clients')).toEqual(['clients/README.md']);
  for (const path of ['test', 'bench', '.env.example', '.git/config']) {
    expect(visible(path)).toEqual([]);
  }
});

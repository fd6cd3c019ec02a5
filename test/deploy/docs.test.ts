import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../src/config/config.ts';
import { PHONE_PATH } from '../../src/operator/phone-sockets.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const TEXT = read('docs/deploy.md');

function allOf(pattern: RegExp): readonly string[] {
  return [...new Set([...TEXT.matchAll(pattern)].map((match) => match[1] ?? ''))];
}

test('docs/deploy.md links to files and headings that are there', () => {
  const links = allOf(/\]\(([^)]+)\)/g);
  const headings = [...TEXT.matchAll(/^## (.+)$/gm)].map(
    ([, title = '']) =>
      `#${title
        .toLowerCase()
        .replace(/[^\w ]/g, '')
        .replaceAll(' ', '-')}`,
  );
  const isThere = (link: string) =>
    link.startsWith('#') ? headings.includes(link) : existsSync(join(ROOT, 'docs', link));

  expect(links.length).toBeGreaterThan(8);
  expect(links.filter((link) => !isThere(link))).toEqual([]);
});

test('docs/deploy.md names metrics, settings, services and files that are there', () => {
  const metrics = globSync('src/lib/**/*.ts', { cwd: ROOT }).map(read).join('\n');
  const settings = allOf(/`([A-Z][A-Z_]+)=/g);
  const services = Object.keys(parse(read('docker-compose.yml'), { merge: true }).services);
  const rows = allOf(/^\| `([a-z-]+)`(?:, `[a-z-]+`)? \|/gm);
  const settingNames = `${Object.keys(readConfig({})).join()},MEDIA,PUBLIC_ADDRESS`;

  expect(allOf(/(offhook_[a-z_]+)/g).filter((name) => !metrics.includes(`'${name}'`))).toEqual([]);
  expect(settings.filter((name) => !settingNames.includes(name))).toEqual([]);
  expect(rows.filter((name) => !services.includes(name))).toEqual([]);
  expect(rows.length).toBeGreaterThan(4);
  expect(
    allOf(/((?:examples|src)\/[\w/.-]+\.\w+)/g).filter((file) => !existsSync(join(ROOT, file))),
  ).toEqual([]);
});

test('docs/deploy.md shows the Caddyfile as it is, and both proxies pass on to the default port', () => {
  const bare = (text: string) =>
    text
      .replace(/^\s*#.*\n/gm, '')
      .replace(/\n+/g, '\n')
      .trim();
  const [, shown = ''] = /```caddy\n(voice\.example\.com[\s\S]*?)```/.exec(TEXT) ?? [];
  const caddyfile = read('examples/proxy/Caddyfile');
  const { HOST, PORT } = readConfig({});

  expect(bare(shown)).toBe(bare(caddyfile));
  for (const text of [caddyfile, read('examples/proxy/nginx.conf')]) {
    expect(text).toContain(`${HOST}:${PORT}`);
  }
});

test('nginx passes the WebSocket of browser calls on', () => {
  const nginx = read('examples/proxy/nginx.conf');

  const [, location = ''] = new RegExp(`location = ${PHONE_PATH} \\{([^}]*)\\}`).exec(nginx) ?? [];

  expect(location).toMatch(
    /proxy_set_header Upgrade \$http_upgrade;\s+proxy_set_header Connection upgrade;/,
  );
});

test('docs/deploy.md opens the ports that the settings and FreeSWITCH use', () => {
  const { RTP_PORTS, SIP_PORT } = readConfig({});
  const freeswitch = read('sip-config/freeswitch/freeswitch.xml');
  const given = (name: string) => new RegExp(`data="${name}=(\\d+)"`).exec(freeswitch)?.[1];

  expect(TEXT).toContain(`| ${RTP_PORTS.first}-${RTP_PORTS.last}/udp (\`RTP_PORTS\`)`);
  expect(TEXT).toContain(`| ${given('rtp_first')}-${given('rtp_last')}/udp with FreeSWITCH`);
  expect(TEXT).toContain(`| ${SIP_PORT}/udp and tcp (\`SIP_PORT\`)`);
  expect(TEXT).toContain(`${given('outer_sip_port')}, ${given('inner_sip_port')}`);
});

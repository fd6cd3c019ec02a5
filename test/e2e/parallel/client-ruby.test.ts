/** The Ruby client library. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { testFaults } from '../../../clients/conformance/conformance.ts';
import { testOperations } from '../../../clients/conformance/conformance-operations.ts';
import { generate } from '../../../clients/generator/generate.ts';
import { describeWith } from '../../support/server/programs.ts';

const ROOT = join(import.meta.dirname, '../../..');
const LIBRARY = join(ROOT, 'clients/ruby/lib/offhook.rb');

await generate(['ruby']);

const CLIENT = {
  driver: ['ruby', '-w', 'clients/ruby/conformance.rb'],
  readme: {
    ...{ folder: 'ruby', fence: 'ruby', extension: '.rb' },
    interpreter: 'ruby',
    replace: { "require 'offhook'": `require '${LIBRARY}'` },
  },
};

/** What a piece of Ruby prints, errors included. */
function printed(code: string): string {
  const made =
    "offhook = Offhook::Client.new(api_key: 'svc_test_secret', base_url: 'http://127.0.0.1:9', max_retries: 0);";
  const { stdout, stderr } = spawnSync('ruby', ['-r', LIBRARY, '-e', `${made} ${code}`]);
  return `${stdout}${stderr}`;
}

const SIGNATURE = createHmac('sha256', 's').update('7.{"event":"e"}').digest('hex');

describeWith(['ruby'], 'the Ruby client', () => {
  testOperations(CLIENT);
  testFaults(CLIENT);

  test('Webhooks.verify takes headers from the environment of Rack', () => {
    const headers = `{ 'HTTP_X_SERVICE_TIMESTAMP' => '7', 'HTTP_X_SERVICE_SIGNATURE' => '${SIGNATURE}' }`;

    const event = printed(
      `print Offhook::Webhooks.verify('{"event":"e"}', ${headers}, 's', now: 8).to_json`,
    );

    expect(event).toBe('{"event":"e"}');
  });

  test.each([
    ['offhook.agents.get("..")', 'Cannot use ".." as agent_id: it names no resource'],
    ['Offhook::Client.new(api_key: "", base_url: "http://a")', 'Cannot use the API key'],
    ['Offhook::Client.new(api_key: "k", base_url: "ftp://a")', 'Cannot use the base URL "ftp://a"'],
    [
      'Offhook::Client.new(api_key: "k", base_url: "http://[")',
      'Cannot use the base URL "http://["',
    ],
    ['offhook.agents.get("a", options: { timeout: 0 })', 'the timeout is not above 0'],
    ['offhook.agents.get("a", options: { time: 1 })', 'unknown keyword: :time'],
    ['offhook.agents.create(options: { idempotency_key: "a\r\nb" })', 'visible ASCII characters'],
    ['offhook.agents.delete("a", if_match: "a\r\nb")', 'Cannot use if_match'],
    ['offhook.agents.create(name: "\\xff")', 'Cannot send the body as JSON'],
    ['offhook.agents.list(agent: 1)', 'unknown keyword: :agent'],
  ])('%j is no use', (code, expected) => {
    const output = printed(code);

    expect(output).toContain('ArgumentError');
    expect(output).toContain(expected);
  });

  test('the gem has the library, its signatures and the licence', () => {
    const build = ['clients/ruby/build.ts'];
    const built = execFileSync(process.execPath, build, { cwd: ROOT, stdio: 'pipe' }).toString();
    const gem = join(ROOT, 'clients/ruby', /File: (\S+)/.exec(built)?.[1] ?? '');

    const files = execFileSync('gem', ['specification', gem, 'files']).toString();

    expect(files).toContain('lib/offhook/generated/resources.rb');
    expect(files).toContain('sig/generated/types.rbs');
    expect(files).toContain('LICENSE');
    expect(files).not.toContain('conformance.rb');
  });

  test('a client shows no key', () => {
    const output = printed('p offhook; offhook.agents.get("a")');

    expect(output).toContain('ConnectionFailedError');
    expect(output).not.toContain('svc_test_secret');
  });
});

/** The PHP client library. */
import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { testFaults } from '../../../clients/conformance/conformance.ts';
import { testOperations } from '../../../clients/conformance/conformance-operations.ts';
import { generate } from '../../../clients/generator/generate.ts';
import { describeWith } from '../../support/server/programs.ts';

const AUTOLOADER = join(import.meta.dirname, '../../../clients/php/autoload.php');

await generate(['php']);

const CLIENT = {
  driver: ['php', 'clients/php/conformance.php'],
  readme: {
    ...{ folder: 'php', fence: 'php', extension: '.php' },
    interpreter: 'php',
    replace: { "require 'vendor/autoload.php'": `<?php require '${AUTOLOADER}'` },
  },
  hasOneKindOfArray: true,
};

/** What a piece of PHP prints, errors included. */
function printed(code: string): string {
  const start = `require '${AUTOLOADER}'; use Offhook\\{Offhook, RequestOptions, Webhooks};`;
  const made = "$offhook = new Offhook('svc_test_secret', 'http://127.0.0.1:9', maxRetries: 0);";
  const { stdout, stderr } = spawnSync('php', ['-r', `${start} ${made} ${code}`]);
  return `${stdout}${stderr}`;
}

const SIGNATURE = createHmac('sha256', 's').update('7.{"event":"e"}').digest('hex');

describeWith(['php'], 'the PHP client', () => {
  // PSR-18 has no time-outs and no cuts of its own: the faults are those of curl.
  testOperations({ ...CLIENT, flavours: ['curl', 'PSR-18'] });
  testFaults(CLIENT);

  test('Webhooks::verify takes headers as PSR-7 has them', () => {
    const headers = `['X-Service-Timestamp' => ['7'], 'X-Service-Signature' => ['${SIGNATURE}']]`;

    const event = printed(
      `echo json_encode(Webhooks::verify('{"event":"e"}', ${headers}, 's', 8));`,
    );

    expect(event).toBe('{"event":"e"}');
  });

  test.each([
    ['$offhook->agents->get("..");', 'Cannot use ".." as agentId: it names no resource'],
    ['new Offhook("", "http://127.0.0.1");', 'Cannot use the API key: it is empty or has blanks'],
    ['new Offhook("key", "ftp://127.0.0.1");', 'Cannot use the base URL "ftp://127.0.0.1"'],
    ['new Offhook("key", "http://:80");', 'Cannot use the base URL "http://:80"'],
    ['new RequestOptions(timeoutSeconds: 0);', 'the time-out is not above 0'],
    ['new RequestOptions(idempotencyKey: "a\r\nb");', 'expected 1 to 255 visible ASCII characters'],
    ['$offhook->agents->delete("a", ifMatch: "a\r\nb");', 'Cannot use ifMatch'],
    ['$offhook->agents->update("a", ["name" => "\\xff"]);', 'Cannot send the body'],
    [
      'Webhooks::verify("", ["X-Service-Timestamp" => "7", "X-Service-Signature" => ""], "");',
      'the secret is empty',
    ],
  ])('%j is no use', (code, expected) => {
    const output = printed(code);

    expect(output).toContain('InvalidArgumentException');
    expect(output).toContain(expected);
  });

  test('dumps and traces of a client have no key', () => {
    const output = printed('var_dump($offhook); $offhook->agents->get("a");');

    expect(output).toContain('ConnectionFailedException');
    expect(output).not.toContain('svc_test_secret');
  });
});

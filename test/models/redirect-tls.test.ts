/** Redirects between servers that speak TLS, as from the hub to where its large files lie. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Agent } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { HttpSource } from '../../src/model-store/http-source.ts';
import { describeWith } from '../support/server/programs.ts';
import { temporaryFolder } from './support/download-world.ts';

type Answer = readonly [status: number, headers: Record<string, string>];

/** A self-signed certificate, for a test that trusts it. */
function certificate(): { readonly key: Buffer; readonly cert: Buffer } {
  const folder = temporaryFolder();
  const [key, cert] = [join(folder, 'key'), join(folder, 'cert')];
  const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2';
  const args = [...words.split(' '), '-subj', '/CN=127.0.0.1', '-keyout', key, '-out', cert];
  execFileSync('openssl', args, { stdio: 'ignore' });
  return { key: readFileSync(key), cert: readFileSync(cert) };
}

async function tlsServer(answers: Answer[]) {
  const authorizations: (string | undefined)[] = [];
  const server = createServer(certificate(), (request, response) => {
    authorizations.push(request.headers.authorization);
    const [status, headers] = answers.shift() ?? [500, {}];
    response.writeHead(status, headers).end(status === 200 ? 'whole' : '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, authorizations };
}

function trusting(token: { readonly origin: string; readonly token: string }): HttpSource {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  onTestFinished(() => dispatcher.destroy());
  return new HttpSource({ dispatcher, userAgent: 'Offhook/test', token });
}

describeWith(['openssl'], 'redirects over TLS', () => {
  test('HttpSource follows https to another server, without the token', async () => {
    const cdn = await tlsServer([[200, {}]]);
    const hub = await tlsServer([[302, { location: `${cdn.origin}/a` }]]);
    const source = trusting({ origin: hub.origin, token: 'hf_secret' });

    const { signal } = new AbortController();
    const answer = await source.get(`${hub.origin}/a`, { headers: {}, signal, stallMs: 5000 });

    expect(answer.statusCode).toBe(200);
    expect(hub.authorizations).toEqual(['Bearer hf_secret']);
    expect(cdn.authorizations).toEqual([undefined]);
    await answer.body.dump();
  });

  test('HttpSource does not go from https to http, not even to the same host', async () => {
    const hub = await tlsServer([[302, { location: 'http://127.0.0.1:1/a' }]]);
    const source = trusting({ origin: hub.origin, token: 'hf_secret' });

    const { signal } = new AbortController();
    const asked = source.get(`${hub.origin}/a`, { headers: {}, signal, stallMs: 5000 });

    await expect(asked).rejects.toMatchObject({ failure: 'refused' });
  });
});

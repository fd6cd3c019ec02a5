import { expect, test } from 'vitest';
import { DigestClient, parseAuthFields, strongestChallenge } from '../../src/sip/digest.ts';
import { SipMessage } from '../../src/sip/message/message.ts';

const MUFASA = { username: 'Mufasa', password: 'Circle of Life' };
const MUFASA_CNONCE = 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ';
const RFC_7616_FIELDS =
  'realm="http-auth@example.org", qop="auth, auth-int", ' +
  'nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", ' +
  'opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"';

function requestFor(method: string, uri: string): SipMessage {
  const request = new SipMessage();
  request.method = method;
  request.uri = uri;
  return request;
}

function refusal(status: 401 | 407, ...challenges: string[]): SipMessage {
  const response = new SipMessage();
  response.status = status;
  for (const challenge of challenges) {
    response.add(status === 407 ? 'proxy-authenticate' : 'www-authenticate', challenge);
  }
  return response;
}

function clientOf(credentials = MUFASA, cnonce = MUFASA_CNONCE): DigestClient {
  return new DigestClient({ credentialsFor: () => credentials, makeCnonce: () => cnonce });
}

function fieldsOf(request: SipMessage, name = 'authorization'): ReadonlyMap<string, string> {
  return parseAuthFields(request.get(name) ?? '');
}

test.each([
  {
    vector: 'RFC 7616, 3.9.1, MD5',
    client: clientOf(),
    request: requestFor('GET', '/dir/index.html'),
    challenge: `Digest ${RFC_7616_FIELDS}, algorithm=MD5`,
    expected: '8ca523f5e9506fed4657c9700eebdbec',
  },
  {
    vector: 'RFC 7616, 3.9.1, SHA-256',
    client: clientOf(),
    request: requestFor('GET', '/dir/index.html'),
    challenge: `Digest ${RFC_7616_FIELDS}, algorithm=SHA-256`,
    expected: '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1',
  },
  {
    vector: 'RFC 7616, 3.9.2 with erratum 4897, SHA-512-256 and a name in UTF-8',
    client: clientOf(
      { username: 'Jäsøn Doe', password: 'Secret, or not?' },
      'NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v',
    ),
    request: requestFor('GET', '/doe.json'),
    challenge:
      'Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, ' +
      'nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", ' +
      'opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS"',
    expected: '3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5',
  },
  {
    vector: 'RFC 2617, 3.5',
    client: clientOf({ username: 'Mufasa', password: 'Circle Of Life' }, '0a4f113b'),
    request: requestFor('GET', '/dir/index.html'),
    challenge:
      'Digest realm="testrealm@host.com", qop="auth,auth-int", ' +
      'nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41"',
    expected: '6629fae49393a05397450978507c4ef1',
  },
  {
    vector: 'RFC 2069 as corrected, without qop',
    client: clientOf({ username: 'Mufasa', password: 'CircleOfLife' }),
    request: requestFor('GET', '/dir/index.html'),
    challenge:
      'Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", ' +
      'opaque="5ccc069c403ebaf9f0171e9517f40e41"',
    expected: '1949323746fe6a43ef61f9606e7febea',
  },
])('DigestClient answers as in $vector', ({ client, request, challenge, expected }) => {
  const isAccepted = client.accept(refusal(401, challenge), request);
  client.authorize(request);

  expect(isAccepted).toBe(true);
  expect(fieldsOf(request).get('response')).toBe(expected);
});

test('DigestClient keeps one client nonce for a session algorithm', () => {
  let made = 0;
  const client = new DigestClient({
    credentialsFor: () => MUFASA,
    makeCnonce: () => `cnonce${++made}`,
  });
  const [first, second] = [requestFor('INVITE', 'sip:a@b'), requestFor('BYE', 'sip:a@b')];

  client.accept(refusal(401, 'Digest realm="r", nonce="n", qop="auth", algorithm=MD5-sess'), first);
  client.authorize(first);
  client.authorize(second);

  expect(fieldsOf(first).get('cnonce')).toBe('cnonce1');
  expect(fieldsOf(second).get('cnonce')).toBe('cnonce1');
});

test('strongestChallenge passes over what it does not know', () => {
  const chosen = strongestChallenge([
    'Basic realm="r"',
    'Digest realm="r", nonce="1", algorithm=MD5, qop="auth"',
    'Digest realm="r", nonce="2", algorithm=SHA-256, qop="auth"',
    'Digest realm="r", nonce="3", algorithm=SHA3-512, qop="auth"',
    'Digest realm="r", nonce="4", algorithm=SHA-512-256, qop="auth-conf"',
    'Digest nonce="5", algorithm=SHA-512-256',
  ]);

  expect(chosen).toMatchObject({ nonce: '2', hash: 'sha256', qop: 'auth' });
});

test('strongestChallenge finds none where none can be answered', () => {
  expect(strongestChallenge(['NTLM', 'Digest realm="r"', 'Digest'])).toBeUndefined();
});

test('DigestClient counts how often it has used a nonce', () => {
  const client = clientOf();
  const requests = ['INVITE', 'INVITE', 'BYE'].map((method) => requestFor(method, 'sip:a@b'));
  client.accept(refusal(401, 'Digest realm="r", nonce="n", qop="auth"'), requestFor('INVITE', ''));

  for (const request of requests) client.authorize(request);

  const counts = requests.map((request) => fieldsOf(request).get('nc'));
  expect(counts).toEqual(['00000001', '00000002', '00000003']);
});

test('DigestClient answers proxy and server both', () => {
  const client = clientOf();
  const request = requestFor('INVITE', 'sip:a@b');

  client.accept(refusal(407, 'Digest realm="proxy", nonce="p"'), request);
  client.authorize(request);
  client.accept(refusal(401, 'Digest realm="server", nonce="s"'), request);
  client.authorize(request);

  expect(fieldsOf(request, 'proxy-authorization').get('realm')).toBe('proxy');
  expect(fieldsOf(request).get('realm')).toBe('server');
});

test('DigestClient gives up when the answer to a fresh nonce is refused', () => {
  const client = clientOf();
  const request = requestFor('INVITE', 'sip:a@b');
  client.accept(refusal(401, 'Digest realm="r", nonce="n1"'), request);
  client.authorize(request);

  const mayRetry = client.accept(refusal(401, 'Digest realm="r", nonce="n2"'), request);

  expect(mayRetry).toBe(false);
});

test('DigestClient tries again when a nonce that served before is refused', () => {
  const client = clientOf();
  const [invite, bye] = [requestFor('INVITE', 'sip:a@b'), requestFor('BYE', 'sip:a@b')];
  client.accept(refusal(401, 'Digest realm="r", nonce="n1", qop="auth"'), invite);
  client.authorize(invite);
  client.authorize(bye);

  const mayRetry = client.accept(refusal(401, 'Digest realm="r", nonce="n2", qop="auth"'), bye);

  expect(mayRetry).toBe(true);
});

test('DigestClient stops after repeated stale nonces', () => {
  const client = clientOf();
  const request = requestFor('INVITE', 'sip:a@b');
  let tries = 0;

  while (tries < 100) {
    const challenge = `Digest realm="r", nonce="n${tries}", qop="auth", stale=true`;
    if (!client.accept(refusal(401, challenge), request)) break;
    client.authorize(request);
    tries++;
  }

  expect(tries).toBe(3);
});

test('DigestClient leaves realms alone that it has no credentials for', () => {
  const client = new DigestClient({ credentialsFor: () => undefined });

  const mayRetry = client.accept(
    refusal(401, 'Digest realm="r", nonce="n"'),
    requestFor('INVITE', 'sip:a@b'),
  );

  expect(mayRetry).toBe(false);
});

test('parseAuthFields ends on any text', () => {
  for (const text of ['a="', '=', ',,,', 'a=b=c', `${'a=,'.repeat(10_000)}`, '"'.repeat(5_000)]) {
    expect(parseAuthFields(`Digest ${text}`).size).toBeLessThanOrEqual(32);
  }
});

/** Signing in, and how those are held back who do not know the password. */
import { expect, test } from 'vitest';
import { openLogger } from '../../src/lib/logger.ts';
import { Browser, openSignedIn, PASSWORD } from '../support/dashboard/dashboard-world.ts';

const WRONG = 'wrong horse battery';

/** Tries a wrong password so many times, each after the wait that was asked for. @returns the waits, in seconds. */
async function tryWrongly(
  { api, store }: Awaited<ReturnType<typeof openSignedIn>>,
  { tries, remoteAddress = '203.0.113.7' }: { tries: number; remoteAddress?: string },
): Promise<number[]> {
  const browser = new Browser(api);
  const waits: number[] = [];
  for (let tried = 0; tried < tries; tried += 1) {
    let answer = await browser.logIn(WRONG, { remoteAddress });
    if (answer.status === 429) {
      const waitSeconds = Number(answer.headers.get('Retry-After'));
      waits.push(waitSeconds);
      store.clock.advance(waitSeconds * 1000);
      answer = await browser.logIn(WRONG, { remoteAddress });
    }
    expect([answer.status, answer.body.error.code]).toEqual([401, 'UNAUTHORIZED']);
  }
  return waits;
}

test('POST /dashboard/login takes the password, and the same letters typed in another way', async () => {
  const { api, browser, token } = await openSignedIn();
  const change = { current: PASSWORD, next: 'Schlüssel für Zürich' };
  await browser.ask('POST', '/dashboard/password', { body: change });

  const { status, body } = await new Browser(api).logIn(change.next.normalize('NFD'));

  expect(token).not.toBe('');
  expect([status, body.isSetUp]).toEqual([200, true]);
});

test.each([
  ['https://voice.example', 'Path=/dashboard', true],
  ['http://voice.example', 'Path=/dashboard', false],
  ['https://example.com/phone', 'Path=/phone/dashboard', true],
])('The cookie of %s is for the dashboard alone', async (publicUrl, path, isSecure) => {
  const { api } = await openSignedIn({ publicUrl });

  const { headers } = await new Browser(api).logIn();

  const [pair = '', ...attributes] = (headers.get('Set-Cookie') ?? '').split('; ');
  expect(pair).toMatch(/^offhook_session=[\w-]{43}$/);
  expect(attributes.sort()).toEqual(
    ['HttpOnly', 'Max-Age=43200', path, 'SameSite=Strict', ...(isSecure ? ['Secure'] : [])].sort(),
  );
});

test('POST /dashboard/login lets five wrong tries of an address pass, then waits that double', async () => {
  const world = await openSignedIn();

  const waits = await tryWrongly(world, { tries: 17 });

  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
});

test('POST /dashboard/login refuses the right password too while it waits', async () => {
  const world = await openSignedIn();
  await tryWrongly(world, { tries: 5 });

  const waiting = await new Browser(world.api).logIn();
  world.store.clock.advance(1000);
  const after = await new Browser(world.api).logIn();

  expect([waiting.status, waiting.headers.get('Retry-After'), after.status]).toEqual([
    429,
    '1',
    200,
  ]);
});

test('POST /dashboard/login counts tries that come together', async () => {
  const { api } = await openSignedIn();

  const answers = await Promise.all(
    Array.from({ length: 20 }, () => new Browser(api).logIn(WRONG)),
  );

  expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(15);
});

test('POST /dashboard/login forgets wrong tries after a right one', async () => {
  const world = await openSignedIn();
  await tryWrongly(world, { tries: 4 });

  await new Browser(world.api).logIn();
  const waits = await tryWrongly(world, { tries: 5 });

  expect(waits).toEqual([]);
});

test('POST /dashboard/login holds back strangers after fifty tries from everywhere, not where the operator was', async () => {
  const world = await openSignedIn();
  const home = { remoteAddress: '198.51.100.1' };
  await new Browser(world.api).logIn(PASSWORD, home);
  for (let host = 1; host <= 50; host += 1) {
    await tryWrongly(world, { tries: 1, remoteAddress: `192.0.2.${host}` });
  }

  const stranger = await new Browser(world.api).logIn(PASSWORD, { remoteAddress: '192.0.2.99' });
  const whereItWasSet = await new Browser(world.api).logIn();
  const operator = await new Browser(world.api).logIn(PASSWORD, home);

  expect([stranger.status, whereItWasSet.status, operator.status]).toEqual([429, 200, 200]);
});

test('A thousand wrong tries of one address take ten days', async () => {
  const world = await openSignedIn();
  const beganAtMs = world.store.clock.nowMs();

  await tryWrongly(world, { tries: 1000 });

  const tookDays = (world.store.clock.nowMs() - beganAtMs) / 86_400_000;
  expect(tookDays).toBeGreaterThan(10);
});

test('POST /dashboard/login takes no more passwords than eight at a time', async () => {
  const world = await openSignedIn();
  const { api } = world;

  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, host) =>
      new Browser(api).logIn(PASSWORD, { remoteAddress: `192.0.2.${host}` }),
    ),
  );

  const refused = answers.filter(({ status }) => status === 503);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(8);
  expect(refused.map(({ headers }) => headers.get('Retry-After'))).toEqual(['5', '5']);
  // A refusal is no wrong try: four more are free, and the fifth waits for nothing either.
  expect(await tryWrongly(world, { tries: 5, remoteAddress: '192.0.2.9' })).toEqual([]);
});

test.each([
  ['no password', {}],
  ['another field', { password: PASSWORD, '<script>alert(1)</script>': 1 }],
  ['a password of another kind', { password: 1 }],
])('POST /dashboard/login answers JSON that no browser shows as a page to %s', async (_case, body) => {
  const { api } = await openSignedIn();

  const response = await new Browser(api).ask('POST', '/dashboard/login', { body });

  expect(response.status).toBe(400);
  expect(response.headers.get('Content-Type')).toBe('application/json');
  expect(response.headers.get('X-Content-Type-Options')).toBe('nosniff');
  expect(response.headers.get('Content-Security-Policy')).toContain("default-src 'none'");
});

const XSS = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "'-alert(1)-'",
  '</title><svg onload=alert(1)>',
  'javascript:alert(1)',
  '\u2028<b>',
];

test.each(XSS)('No error of the dashboard shows "%s" as a page', async (text) => {
  const { api, browser } = await openSignedIn();
  const stranger = new Browser(api);

  const answers = [
    await stranger.ask('POST', '/dashboard/login', { body: { password: 'x', [text]: text } }),
    await stranger.ask('POST', '/dashboard/setup', { body: { token: text, password: PASSWORD } }),
    await stranger.ask('GET', `/dashboard/${encodeURIComponent(text)}`),
    await stranger.ask('GET', `/assets/${encodeURIComponent(text)}`),
    await browser.ask('POST', '/dashboard/key', { body: { accountId: text, environment: 'live' } }),
  ];

  expect(answers.map(({ status }) => status)).toEqual([400, 401, 404, 404, 404]);
  for (const { headers } of answers) {
    expect(headers.get('Content-Type')).toBe('application/json');
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
  }
});

test('POST /dashboard/login refuses a body that a form could send, and one that is too large', async () => {
  const { api } = await openSignedIn();
  const text = JSON.stringify({ password: PASSWORD });
  const ask = (type: string, sent: string) =>
    api.request('POST', '/dashboard/login', {
      key: null,
      text: sent,
      headers: { 'Content-Type': type },
    });

  const asked = [
    await ask('text/plain', text),
    await ask('application/x-www-form-urlencoded', text),
    await ask('application/json', `${text}${' '.repeat(9000)}`),
    await ask('application/json', '{'),
    await ask('application/json; charset=utf-8', text),
  ];

  expect(asked.map(({ status }) => status)).toEqual([400, 400, 400, 400, 200]);
});

test('The log has no secret, whatever is asked', async () => {
  const lines: string[] = [];
  const sink = { write: (line: string) => lines.push(line) };
  const log = openLogger('debug', sink);
  const { api, browser, token } = await openSignedIn({ log });
  const key = await browser.key();
  await api.request('GET', '/api/agents', { key });
  await new Browser(api).logIn(WRONG);
  const change = { current: PASSWORD, next: 'the next password' };
  await browser.ask('POST', '/dashboard/password', { body: change });
  await browser.ask('POST', '/dashboard/logout');

  const text = lines.join('');
  const secrets = [token, PASSWORD, WRONG, change.next, key, browser.cookie, browser.csrfToken];

  expect(text).toContain('dashboard: wrong password');
  expect(secrets.filter((secret) => text.includes(secret ?? ''))).toEqual([]);
});

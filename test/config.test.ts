import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  doubtfulSettings,
  mistypedVariables,
  printConfig,
  readConfig,
} from '../src/config/config.ts';
import { ConfigError } from '../src/config/secret-files.ts';

test('readConfig gives every documented default on an empty environment', () => {
  const config = readConfig({});

  expect(config.PORT).toBe(3000);
  expect(config.PUBLIC_URL).toBe('http://localhost:3000');
  expect(config.RTP_PORTS).toEqual({ first: 20_000, last: 20_999 });
  expect(config.WEBHOOK_BACKOFF_SECONDS).toEqual([0, 30, 120, 600, 1800]);
  expect(config.TELEPHONY).toBe('embedded');
});

test.each([
  ['PORT', '70000'],
  ['SIP_PORT', 'five'],
  ['RTP_PORTS', '20999-20000'],
  ['RTP_PORTS', 'many'],
  ['MAX_CALLS', '0'],
  ['LOG_LEVEL', 'loud'],
  ['LOG_FORMAT', 'text'],
  ['BOOTSTRAP_LIVE_KEY', 'svc_test_00000000000000000000000000000000'],
  ['WEBHOOK_ALLOW_LOCAL', 'yes'],
  ['WEBHOOK_BACKOFF_SECONDS', '0;30'],
  ['WEBHOOK_BACKOFF_SECONDS', '0,1,2,3,4,5'],
  ['DATABASE_URL', 'postgres://localhost/offhook'],
  ['DATABASE_URL', 'foo://x'],
  ['HOST', '999.1.1.1'],
  ['SIP_HOST', '10.0.0'],
  ['SIP_HOST', 'a b'],
  ['SIP_HOST', 'localhost'],
  ['PUBLIC_ADDRESS', '0.0.0.0'],
  ['STUN_SERVER', 'stun:stun.example.com'],
  ['PUBLIC_ADDRESS', '203.0.113.10:5060'],
  ['PUBLIC_ADDRESS', '2001:db8::1'],
  ['OLLAMA_HOST', 'ftp://x'],
  ['PUBLIC_URL', 'http://x/y?z=1'],
  ['PLANS_WITHOUT_OUTBOUND', 'free'],
  ['TRUSTED_PROXIES', 'localhost'],
  ['TRUSTED_PROXIES', '127.0.0.1,0.0.0.0/0'],
  ['TELEPHONY', 'kamailio'],
  ['DRACHTIO_HOST', '10.0.0.1:99999'],
  ['FREESWITCH_HOST', '10.0.0.1*0'],
  ['VAD', 'best'],
  ['STT', 'parakeet'],
  ['MODELS_PROFILE', 'huge'],
  ['MODELS_BASE_URL', 'https://me:word@mirror.example'],
  ['OLLAMA_HOST', 'http://me:word@127.0.0.1:11434'],
  ['STT_URL', 'http://127.0.0.1:8000'],
  ['STT_URL', 'tcp://127.0.0.1'],
  ['TTS_URL', 'tcp://me:word@127.0.0.1:10200'],
  ['OPENAI_BASE_URL', 'https://me:word@models.example/v1'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'https://me:word@traces.example'],
  ['LLM', 'gpt'],
  ['LLM', 'auto,scripted'],
  ['LLM', 'openai'],
  ['LLM_CONTEXT_TOKENS', '512'],
  ['LLM_FIRST_TOKEN_MS', '0'],
  ['LLM_NEXT_TOKEN_MS', '1.5'],
  ['LLM_WARM_PREFIX', 'yes'],
  ['LLAMA_CPP_MODEL', '../secret'],
  ['LLAMA_CPP_CALLS', '0'],
])('readConfig refuses %s=%s by name', (name, value) => {
  const read = () => readConfig({ [name]: value });

  expect(read).toThrow(ConfigError);
  expect(read).toThrow(name);
});

test.each([
  ['PORT', 'abc', 'expected a whole number from 0 to 65535'],
  ['PORT', '0x10', 'expected a whole number from 0 to 65535'],
  ['SIP_PORT', '1e3', 'expected a whole number from 0 to 65535'],
  ['MAX_CALLS', '1.5', 'expected a whole number from 1 to 100000'],
  ['DRAIN_TIMEOUT_SECONDS', '-1', 'expected a whole number from 0 to 999999999'],
  ['LLAMA_CPP_CALLS', '65', 'expected a whole number from 1 to 64'],
  ['SANDBOX_SPEED', 'fast', 'expected a number above 0'],
  ['PUBLIC_ADDRESS', 'a b', 'expected an IPv4 address, a host name, or auto'],
  ['PUBLIC_URL', 'ftp://x', 'expected an address such as https://voice.example'],
  [
    'DATABASE_URL',
    'postgres://x',
    'expected the path of a file: PostgreSQL is not supported by this version',
  ],
])('readConfig says once what it expected of %s=%s', (name, value, message) => {
  const read = () => readConfig({ [name]: value });

  expect(read).toThrow(
    new ConfigError(`Cannot start with these settings:\n  ${name}: ${message}, got "${value}"`),
  );
});

test.each([
  ['HOST', '::'],
  ['HOST', '0.0.0.0'],
  ['PUBLIC_ADDRESS', '203.0.113.10'],
  ['PUBLIC_ADDRESS', 'voice.example.com'],
  ['PUBLIC_ADDRESS', 'auto'],
  ['STUN_SERVER', 'stun.example.com:3478'],
  ['TELEPHONY', 'drachtio'],
  ['MEDIA', 'freeswitch'],
  ['DRACHTIO_HOST', '10.0.0.1:9022*3,10.0.0.2'],
  ['OLLAMA_HOST', 'http://gpu-box:11434'],
  ['PUBLIC_URL', 'https://voice.example/base'],
  ['DATABASE_URL', '/var/lib/offhook/offhook.db'],
  ['LLM', 'llama-cpp,scripted'],
])('readConfig takes %s=%s', (name, value) => {
  const config: Readonly<Record<string, unknown>> = { ...readConfig({ [name]: value }) };

  expect(config[name]).toBe(value);
});

test('readConfig keeps five attempts where fewer waits are given', () => {
  const config = readConfig({ WEBHOOK_BACKOFF_SECONDS: '0,30' });

  expect(config.WEBHOOK_BACKOFF_SECONDS).toEqual([0, 30, 30, 30, 30]);
});

test('readConfig refuses PUBLIC_ADDRESS=auto where nothing could tell the address', () => {
  const remote = { PUBLIC_ADDRESS: 'auto', TELEPHONY: 'drachtio' };

  expect(() => readConfig(remote)).toThrow('needs STUN_SERVER');
  expect(readConfig({ ...remote, STUN_SERVER: '203.0.113.5' }).STUN_SERVER).toBe('203.0.113.5');
});

test('printConfig shows PUBLIC_ADDRESS', () => {
  const config = readConfig({ PUBLIC_ADDRESS: 'voice.example.com' });

  expect(printConfig(config)).toContain('PUBLIC_ADDRESS=voice.example.com');
});

test('readConfig takes proxies as addresses and networks, and printConfig shows them', () => {
  const config = readConfig({ TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8,::1' });

  expect(config.TRUSTED_PROXIES).toEqual(['127.0.0.1', '10.0.0.0/8', '::1']);
  expect(printConfig(config)).toContain('TRUSTED_PROXIES=127.0.0.1,10.0.0.0/8,::1');
});

test('readConfig names every wrong setting at once', () => {
  const read = () => readConfig({ PORT: 'x', MAX_CALLS: '-1' });

  expect(read).toThrow(/PORT[\s\S]*MAX_CALLS/);
});

test('readConfig repeats neither a secret nor an address with a password', () => {
  const read = () =>
    readConfig({ BOOTSTRAP_LIVE_KEY: 'my-secret', OLLAMA_HOST: 'http://me:word@127.0.0.1:11434' });

  expect(read).toThrow(/BOOTSTRAP_LIVE_KEY[\s\S]*OLLAMA_HOST/);
  expect(read).not.toThrow(/my-secret|me:word/);
});

test('readConfig takes an empty variable as not given', () => {
  const config = readConfig({ PORT: '', OPENAI_API_KEY: '' });

  expect(config.PORT).toBe(3000);
});

test('readConfig names the file of a secret that cannot be read', () => {
  const read = () => readConfig({ BOOTSTRAP_LIVE_KEY_FILE: '/nowhere/key' });

  expect(read).toThrow('BOOTSTRAP_LIVE_KEY_FILE "/nowhere/key"');
});

test('readConfig reads the file of a secret whose variable is empty, and takes an empty NAME_FILE as not given', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'offhook-')), 'secret');
  writeFileSync(file, 'from-file\r\n');

  const config = readConfig({
    DRACHTIO_SECRET: '',
    DRACHTIO_SECRET_FILE: file,
    FREESWITCH_SECRET: 'given',
    FREESWITCH_SECRET_FILE: '',
  });

  expect(config.DRACHTIO_SECRET).toBe('from-file');
  expect(config.FREESWITCH_SECRET).toBe('given');
});

test('readConfig refuses a secret file that is empty', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'offhook-')), 'secret');
  writeFileSync(file, '\n');

  const read = () => readConfig({ SECRETS_KEY_FILE: file });

  expect(read).toThrow(`Cannot read SECRETS_KEY_FILE "${file}": it is empty`);
});

test.each([
  ['localhost', 'http://localhost:11434'],
  ['0.0.0.0:11500', 'http://0.0.0.0:11500'],
  ['[::1]', 'http://[::1]:11434'],
  ['https://ollama.example/base', 'https://ollama.example/base'],
])('readConfig reads OLLAMA_HOST=%s as Ollama does', (given, address) => {
  expect(readConfig({ OLLAMA_HOST: given }).OLLAMA_HOST).toBe(address);
});

test('mistypedVariables finds variables that are nearly a setting, and no other ones', () => {
  const names = [
    'MAX_CALL',
    'max_calls',
    'DRIAN_TIMEOUT_SECONDS',
    'SECRETS_KEY_FIL',
    'MAX_CALLS',
    'SECRETS_KEY_FILE',
    'OLLAMA_MODELS',
    'OLLAMA_PORT',
    'PATH',
    'PWD',
    'TERM',
  ];

  const found = mistypedVariables(Object.fromEntries(names.map((name) => [name, 'x'])));

  expect(found).toEqual([
    { variable: 'MAX_CALL', nearest: 'MAX_CALLS' },
    { variable: 'max_calls', nearest: 'MAX_CALLS' },
    { variable: 'DRIAN_TIMEOUT_SECONDS', nearest: 'DRAIN_TIMEOUT_SECONDS' },
    { variable: 'SECRETS_KEY_FIL', nearest: 'SECRETS_KEY_FILE' },
  ]);
});

test.each([
  ['a range that contains SIP_PORT', { RTP_PORTS: '5000-6000' }, ['RTP_PORTS', 'SIP_PORT']],
  [
    'a range that ends at it',
    { RTP_PORTS: '5000-5060', SIP_PORT: '5060' },
    ['RTP_PORTS', 'SIP_PORT'],
  ],
  ['a range that contains the TCP port of HTTP', { RTP_PORTS: '2000-4000' }, []],
  ['a SIP server elsewhere', { RTP_PORTS: '5000-6000', TELEPHONY: 'drachtio' }, []],
  ['an empty variable', { SECRETS_KEY: '', SECRETS_KEY_FILE: '/run/key' }, []],
  ['an empty file name', { SECRETS_KEY: 'x', SECRETS_KEY_FILE: '' }, []],
])('doubtfulSettings of %s names the settings', (_case, environment, settings) => {
  const config = readConfig({ ...environment, SECRETS_KEY_FILE: '', SECRETS_KEY: '' });

  const warnings = doubtfulSettings(config, environment);

  expect(warnings.flatMap((warning) => warning.settings)).toEqual(settings);
});

test('printConfig masks every secret', () => {
  const key = `svc_live_${'a'.repeat(32)}`;
  const text = printConfig(
    readConfig({ BOOTSTRAP_LIVE_KEY: key, OPENAI_API_KEY: 'sk-very-secret' }),
  );

  expect(text).not.toContain(key);
  expect(text).not.toContain('sk-very-secret');
  expect(text).toContain('RTP_PORTS=20000-20999');
});

test('readConfig takes addresses of the protocol that is named, and no others', () => {
  const urls = 'tcp://10.0.0.5:10300, tcp://[::1]:10300';

  expect(readConfig({ STT: 'wyoming', STT_URL: urls }).STT_URL).toHaveLength(2);
  expect(() => readConfig({ STT: 'wyoming', STT_URL: 'http://10.0.0.5:8000' })).toThrow(
    'STT_URL: wyoming needs addresses such as tcp://10.0.0.5:10300, got "http://10.0.0.5:8000"',
  );
  expect(() => readConfig({ TTS: 'openai', TTS_URL: 'tcp://10.0.0.5:10200' })).toThrow(
    'TTS_URL: openai needs addresses such as http://10.0.0.5:8000',
  );
  expect(() => readConfig({ TTS: 'wyoming' })).toThrow('TTS: wyoming needs TTS_URL as well');
});

test('readConfig wants a model for embeddings, and the address of a server that speaks OpenAI', () => {
  expect(readConfig({}).KNOWLEDGE_EMBEDDINGS).toBe('off');
  expect(() => readConfig({ KNOWLEDGE_EMBEDDINGS: 'openai' })).toThrow(
    /needs KNOWLEDGE_EMBEDDINGS_MODEL as well\s+KNOWLEDGE_EMBEDDINGS: openai needs KNOWLEDGE_EMBEDDINGS_URL/,
  );
  const given = { KNOWLEDGE_EMBEDDINGS: 'ollama', KNOWLEDGE_EMBEDDINGS_MODEL: 'nomic-embed-text' };
  expect(readConfig(given).KNOWLEDGE_EMBEDDINGS).toBe('ollama');
  expect(readConfig({ KNOWLEDGE_EMBEDDINGS: 'onnx' }).KNOWLEDGE_EMBEDDINGS_MODEL).toBeUndefined();
  expect(() => readConfig({ KNOWLEDGE_EMBEDDINGS: 'cohere' })).toThrow(
    'one of off, onnx, ollama, openai',
  );
});

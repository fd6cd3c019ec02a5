import { expect, test } from 'vitest';
import { headingAnchor, siteLink } from '../../docs/tools/manual-links.ts';

const URLS = new Map([
  ['docs/deploy.md', 'deploy.html'],
  ['docs/decisions/nat.md', 'decisions/nat.html'],
  ['sip-config/README.md', 'sip-config-folder.html'],
]);

test.each([
  ['decisions/nat.md', 'docs/deploy.md', 'decisions/nat.html'],
  ['../deploy.md#behind-nat', 'docs/decisions/nat.md', '../deploy.html#behind-nat'],
  ['../sip-config/README.md#transfers', 'docs/deploy.md', 'sip-config-folder.html#transfers'],
  ['#behind-nat', 'docs/deploy.md', '#behind-nat'],
  ['https://example.com/a.md', 'docs/deploy.md', 'https://example.com/a.md'],
  ['../examples/proxy/nginx.conf', 'docs/deploy.md', undefined],
  ['../../../etc/passwd', 'docs/deploy.md', undefined],
])('siteLink(%s in %s) is %s', (href, source, expected) => {
  expect(siteLink(href, source, URLS)).toBe(expected);
});

test.each([
  ['Behind NAT', 'behind-nat'],
  ['SIP over TLS, and SRTP', 'sip-over-tls-and-srtp'],
  ['webhook_test `x-y`: 2 · 3', 'webhook_test-x-y-2--3'],
])('headingAnchor(%s) is %s', (text, expected) => {
  expect(headingAnchor(text)).toBe(expected);
});

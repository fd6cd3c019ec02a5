/** Words for failures of TLS: never OpenSSL's own text, always the code. */
import { expect, test } from 'vitest';
import { tlsFailureOf } from '../../src/sip/transport/tls-layer.ts';

test.each([
  ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'the peer does not accept our certificate'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'the peer requires a certificate of ours'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'the peer does not speak TLS on this connection'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'its certificate is by no known authority; set SIP_TLS_CA'],
  ['ERR_SSL_BAD_SIGNATURE', 'TLS failed: bad signature'],
  ['ERR_OSSL_PEM_BAD_END_LINE', 'TLS failed: pem bad end line'],
])('tlsFailureOf says in plain words what %s means: %s', (code, words) => {
  const raw = 'C0:error:0A000418:SSL routines:ssl3_read_bytes:../ssl/record/rec_layer_s3.c:1605:';

  const said = tlsFailureOf(Object.assign(new Error(raw), { code }));

  expect(said).toContain(words);
  expect(said).toMatch(new RegExp(`\\(${code}\\)$`));
  expect(said).not.toContain('routines');
});

test('tlsFailureOf leaves the message of an error that is not of TLS', () => {
  const error = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5061'), {
    code: 'ECONNREFUSED',
  });

  expect(tlsFailureOf(error)).toBe('connect ECONNREFUSED 127.0.0.1:5061');
});

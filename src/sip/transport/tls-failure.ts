/** Why TLS failed, in plain English and with the code of the error; pure */

const NO_AUTHORITY = 'its certificate is by no known authority; set SIP_TLS_CA';
const NOT_TLS = 'the peer does not speak TLS on this connection';
const REFUSED_OURS =
  'the peer does not accept our certificate; it may want one by another authority';
const NO_COMMON_VERSION = 'the peer has no TLS version that we have: 1.2 and 1.3';

/**
 * Reasons by the code of the error: those of Node, and those of OpenSSL with `ERR_SSL_` or `ERR_OSSL_` before them. An
 * `ALERT` came from the peer.
 */
const REASONS: Readonly<Record<string, string>> = {
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: NO_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: NO_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: NO_AUTHORITY,
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by itself; set SIP_TLS_CA to trust it',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: "its certificate is not yet valid; compare this machine's clock",
  ECONNRESET: 'the peer broke the connection off',
  ERR_TLS_HANDSHAKE_TIMEOUT: 'the peer did not finish the handshake in time',
  WRONG_VERSION_NUMBER: NOT_TLS,
  HTTP_REQUEST: NOT_TLS,
  PACKET_LENGTH_TOO_LONG: NOT_TLS,
  RECORD_LAYER_FAILURE: NOT_TLS,
  UNSUPPORTED_PROTOCOL: NO_COMMON_VERSION,
  TLSV1_ALERT_PROTOCOL_VERSION: NO_COMMON_VERSION,
  NO_SHARED_CIPHER: 'the peer has no cipher suite that we have',
  SSLV3_ALERT_HANDSHAKE_FAILURE: 'the peer found no version or cipher suite that both have',
  PEER_DID_NOT_RETURN_A_CERTIFICATE:
    'the peer showed no certificate, which SIP_TLS_VERIFY_CLIENTS requires',
  TLSV13_ALERT_CERTIFICATE_REQUIRED:
    'the peer requires a certificate of ours; set SIP_TLS_CERT and SIP_TLS_KEY',
  TLSV1_ALERT_UNKNOWN_CA: REFUSED_OURS,
  SSLV3_ALERT_BAD_CERTIFICATE: REFUSED_OURS,
  SSLV3_ALERT_CERTIFICATE_UNKNOWN: REFUSED_OURS,
  SSLV3_ALERT_UNSUPPORTED_CERTIFICATE: REFUSED_OURS,
  TLSV1_ALERT_ACCESS_DENIED: REFUSED_OURS,
  SSLV3_ALERT_CERTIFICATE_EXPIRED: 'for the peer our certificate has expired',
  SSLV3_ALERT_CERTIFICATE_REVOKED: 'for the peer our certificate is revoked',
  EE_KEY_TOO_SMALL: 'its key is too short; RSA needs 2048 bits at least',
  CA_KEY_TOO_SMALL: 'the key of an authority in it is too short; RSA needs 2048 bits at least',
  CA_MD_TOO_WEAK: 'its signature is too weak; SHA-256 is needed at least',
};

/** Why a connection failed, or why a certificate cannot be used, in plain English. */
export function tlsFailureOf(error: NodeJS.ErrnoException): string {
  const { code = '' } = error;
  const [, name = ''] = /^ERR_O?SSL_(\w+)$/.exec(code) ?? [];
  const reason = REASONS[code] ?? REASONS[name];
  if (reason !== undefined) return `${reason} (${code})`;
  // OpenSSL's own text has file names and numbers of its source.
  if (name !== '') return `TLS failed: ${name.toLowerCase().replaceAll('_', ' ')} (${code})`;
  return error.message;
}

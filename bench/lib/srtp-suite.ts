/** The suite of benchmarks with SRTP: the one that every carrier has. */
import type { CryptoSuite } from '../../src/rtp/srtp/transform.ts';

export const SRTP_SUITE = 'AES_CM_128_HMAC_SHA1_80' satisfies CryptoSuite;

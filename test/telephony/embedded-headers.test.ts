import { startSilentPlane } from './embedded-plane.ts';
import { describeHeaders } from './headers.contract.ts';

describeHeaders('headers on the embedded plane', (trunks) => startSilentPlane(trunks));

import { startEmbeddedPlane } from './embedded-plane.ts';
import { describeReplacements } from './replaces.contract.ts';

describeReplacements('INVITE with Replaces of the embedded plane', startEmbeddedPlane);

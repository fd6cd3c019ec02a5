import { startEmbeddedPlane } from './embedded-plane.ts';
import { describeIncomingCalls } from './incoming.contract.ts';

describeIncomingCalls('embedded', startEmbeddedPlane);

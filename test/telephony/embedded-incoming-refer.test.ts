import { startEmbeddedPlane } from './embedded-plane.ts';
import { describeIncomingRefers } from './incoming-refer.contract.ts';

describeIncomingRefers('incoming REFER of the embedded plane', startEmbeddedPlane);

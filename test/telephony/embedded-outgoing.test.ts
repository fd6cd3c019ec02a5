import { startEmbeddedPlane } from './embedded-plane.ts';
import { describeOutgoingCalls } from './outgoing.contract.ts';

describeOutgoingCalls('embedded', startEmbeddedPlane);

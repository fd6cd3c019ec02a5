import { startEmbeddedPlane } from './embedded-plane.ts';
import { describeTransfers } from './transfer.contract.ts';

describeTransfers('transfers of the embedded plane', startEmbeddedPlane);

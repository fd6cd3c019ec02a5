import { startEmbeddedPlane } from './embedded-plane.ts';
import { describeStrangers } from './strangers.contract.ts';

describeStrangers('embedded', startEmbeddedPlane);

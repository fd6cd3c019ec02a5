import { startEmbeddedPlane } from './embedded-plane.ts';
import { describeThreeWay } from './three-way.contract.ts';

describeThreeWay('embedded plane', startEmbeddedPlane);

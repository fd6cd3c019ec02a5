import { startEmbeddedPlane } from './embedded-plane.ts';
import { describeThreeWay } from './three-way.contract.ts';

describeThreeWay('three on a line of the embedded plane', startEmbeddedPlane);

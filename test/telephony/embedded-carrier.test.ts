import { describeCarrier } from './carrier.contract.ts';
import { startEmbeddedPlane } from './embedded-plane.ts';
import { phoneWorld } from './phone-world.ts';

describeCarrier('the embedded plane as a carrier', phoneWorld(startEmbeddedPlane));

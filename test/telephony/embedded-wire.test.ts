import { startSilentPlane } from './embedded-plane.ts';
import { describeWire } from './wire.contract.ts';

describeWire('embedded', startSilentPlane);

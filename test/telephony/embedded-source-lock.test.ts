import { startEmbeddedPlane } from './embedded-plane.ts';
import { describeSourceLock } from './source-lock.contract.ts';

describeSourceLock('embedded', startEmbeddedPlane);

import { startSilentPlane } from './embedded-plane.ts';
import { describeTrunks } from './trunk.contract.ts';

describeTrunks('embedded', startSilentPlane);

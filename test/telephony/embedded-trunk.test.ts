import { startSilentPlane } from './embedded-plane.ts';
import { describeProbes } from './probe.contract.ts';
import { describeTrunks } from './trunk.contract.ts';

describeTrunks('embedded', startSilentPlane);
// UDP needs the time of two requests; test/e2e/parallel/trunk-down.test.ts has it.
describeProbes('embedded', startSilentPlane, ['tcp']);

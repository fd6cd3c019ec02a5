/** Composition root: what the server is made of; types only. */
import type { LiveAdmission } from '../call/admission/live-admission.ts';
import type { InboundRouter } from '../call/inbound-router.ts';
import type { CallParts } from '../call/session/call-parts.ts';
import type { CallTracing } from '../call/session/call-tracing.ts';
import type { SipTraceKeeper } from '../call/session/sip-trace-keeper.ts';
import type { Config } from '../config/config.ts';
import type { ReadinessReport } from '../domain/call/engine-state.ts';
import type { NumberOwners } from '../domain/dialing/number-owner.ts';
import type { NewId } from '../domain/ids.ts';
import type { DiskSpace } from '../lib/disk-space.ts';
import type { Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics/metrics.ts';
import type { FileLock } from '../lib/process/file-lock.ts';
import type { ThreadUse } from '../lib/process/thread-use.ts';
import type { ServerLog } from '../lib/server-log.ts';
import type { Dashboard } from '../operator/dashboard.ts';
import type { Store } from '../store/store.ts';
import type { CustomTools } from '../tool/custom-tools.ts';
import type { McpTools } from '../tool/mcp/mcp-tools.ts';
import type { CallSms } from '../tool/sms/call-sms.ts';
import type { Notice } from './output.ts';
import type { SpeechParts } from './speech.ts';
import type { Telephony } from './telephony.ts';
import type { Knowledge } from './tools/knowledge.ts';

/** What `main.ts` brings. */
export interface AppOptions {
  readonly config: Config;
  readonly log: Logger;
  /** What `log` has warned of. */
  readonly serverLog: ServerLog;
  /** Log lines lost since the start; 0 unless given. */
  readonly linesLost?: () => number;
  /** Shows a notice to the operator, at any log level. */
  readonly show: (notice: Notice) => void;
}

/** Everything that `App` is made of. */
export interface AppParts extends AppOptions {
  readonly version: string;
  readonly metrics: Metrics;
  /** The disk of the recordings; not started. */
  readonly disk: DiskSpace;
  readonly lock?: FileLock;
  readonly store: Store;
  readonly speech: SpeechParts;
  readonly telephony: Telephony;
  readonly threads?: ThreadUse;
  readonly tracing?: CallTracing | undefined;
}

/** What the control plane shares with the calls. */
export interface ControlPlaneParts extends AppParts {
  readonly newId: NewId;
  readonly dashboard: Dashboard;
  readonly admission: LiveAdmission;
  readonly callParts: CallParts;
  readonly customTools: CustomTools;
  readonly mcpTools: McpTools;
  readonly callSms: CallSms;
  readonly knowledge: Knowledge;
  /** Routes calls from browsers. */
  readonly router: InboundRouter;
  readonly callTraces: SipTraceKeeper;
  readonly numberOwners: NumberOwners;
  readonly recordingSecret: string;
  readonly readiness: () => Promise<ReadinessReport>;
}

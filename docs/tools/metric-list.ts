/** All families of metrics that a server can have, with any settings. */
import { Metrics } from '../../src/lib/metrics/metrics.ts';

export function metricFamilies(): Metrics['families'] {
  const metrics = new Metrics({ version: '0' });
  metrics.watchSip(() => NO_SIP);
  metrics.watchStrangers(() => ({}));
  metrics.watchQueue(async () => 0);
  metrics.watchLog(() => 0);
  metrics.watchTrunks(() => []);
  metrics.watchCertificate(() => undefined);
  metrics.watchDisk({ freeBytes: 0, freeMinBytes: 0 });
  metrics.watchAdmission(() => undefined);
  metrics.webhooks.watchOutbox(async () => ({ pending: 0, oldestSeconds: 0 }));
  return metrics.families.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

const NO_SIP = {
  ...{ messagesIn: 0, messagesOut: 0, retransmissionsIn: 0, retransmissionsOut: 0, dropped: {} },
  ...{ rejected: new Map(), responsesIn: new Map(), responsesOut: new Map() },
};

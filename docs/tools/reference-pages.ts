/** The pages of `docs/reference/`, each from the tables and programs that the server itself runs on. */
import { errorCodeTable } from '../../src/api/http/describe-route.ts';
import { commandsPage } from './commands-page.ts';
import { eventsPage } from './events-page.ts';
import { page, table } from './markdown.ts';
import { metricFamilies } from './metric-list.ts';
import { settingsPage } from './settings-page.ts';

/** File name to text, in Markdown. */
export function referencePages(): Readonly<Record<string, string>> {
  return {
    'settings.md': settingsPage(),
    'metrics.md': metricsPage(),
    'events.md': eventsPage(),
    'errors.md': errorsPage(),
    'commands.md': commandsPage(),
  };
}

function metricsPage(): string {
  const rows = metricFamilies().map(({ name, type, labels, help }) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', '),
    help,
  ]);
  return page('Metrics', [
    '`GET /metrics` has all of them in the text format of Prometheus. No label holds a telephone number, a name or an id.',
    'With the embedded SIP engine come those of SIP; `offhook_speech_server_…` are counted where speech servers are set. The metrics of the process itself (`process_…`, `nodejs_…`) are those of prom-client.',
    'A Grafana dashboard and alert rules: [Prometheus and Grafana](../../observability/README.md). What to watch: [Operations](../operations.md).',
    table(['Metric', 'Type', 'Labels', 'Meaning'], rows),
  ]);
}

function errorsPage(): string {
  return page('Error codes', [
    'Every refused request has the same body: `{"error": {"code", "message", "status", "requestId"}}`, on 400 with `details`, which name every wrong field. `requestId` is the one of the header `X-Request-Id` and of the line in the log.',
    errorCodeTable(),
  ]);
}

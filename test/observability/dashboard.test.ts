import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Metrics } from '../../src/lib/metrics/metrics.ts';

const FOLDER = join(import.meta.dirname, '../../observability');

/** Series that Prometheus itself adds to a scrape. */
const PROMETHEUS_OWN = ['up'];

interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
}

/** The families of a scrape, by their `HELP` and `TYPE` lines. */
async function families(): Promise<readonly Family[]> {
  const metrics = new Metrics({ version: '0.0.0' });
  metrics.watchSip(() => ({
    messagesIn: 0,
    messagesOut: 0,
    retransmissionsIn: 0,
    retransmissionsOut: 0,
    dropped: {},
    rejected: new Map(),
    responsesIn: new Map(),
    responsesOut: new Map(),
  }));
  metrics.watchTrunks(() => []);
  metrics.watchCertificate(() => undefined);
  metrics.watchQueue(async () => 0);
  metrics.watchDisk({ freeBytes: 1, freeMinBytes: 0 });
  metrics.watchAdmission(() => undefined);
  metrics.watchLog(() => 0);
  metrics.webhooks.watchOutbox(async () => ({ pending: 0, oldestSeconds: 0 }));
  metrics.start();
  const text = await metrics.render();
  metrics.stop();
  return [...text.matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)$/gm)].map(
    ([, name = '', help = '', type = '']) => ({ name, help, type }),
  );
}

/** Names in an expression that are followed by a selector, a range or a comparison, as metrics are. */
function metricsIn(expression: string): string[] {
  const names = expression.match(/\b(?:offhook|process|nodejs)_\w+|\bup\b/g) ?? [];
  return names.map((name) => name.replace(/_(bucket|sum|count)$/, ''));
}

function dashboardExpressions(): string[] {
  const dashboard = JSON.parse(readFileSync(join(FOLDER, 'grafana/dashboard.json'), 'utf8'));
  const panels: { targets?: { expr: string }[] }[] = dashboard.panels;
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
}

function alertExpressions(): string[] {
  const text = readFileSync(join(FOLDER, 'alerts.yml'), 'utf8');
  return [...text.matchAll(/^\s+expr: (.*)$/gm)].map(([, expression = '']) => expression);
}

test('every metric that a panel or an alert asks for is one that the server has', async () => {
  const known = [...(await families()).map(({ name }) => name), ...PROMETHEUS_OWN];
  const asked = [...dashboardExpressions(), ...alertExpressions()].flatMap(metricsIn);

  expect(asked.length).toBeGreaterThan(30);
  expect([...new Set(asked)].filter((name) => !known.includes(name))).toEqual([]);
});

test('metrics are named as Prometheus asks: prefix, base unit, and _total on counters alone', async () => {
  const own = (await families()).filter(({ name }) => name.startsWith('offhook_'));
  const isWellNamed = ({ name, type, help }: Family) =>
    /^offhook_[a-z][a-z0-9_]*$/.test(name) &&
    name.endsWith('_total') === (type === 'counter') &&
    !/_(ms|milliseconds|minutes|kb|mb|percent)(_|$)/.test(name) &&
    (type !== 'histogram' || /_(seconds|bytes)$/.test(name)) &&
    /^[A-Z].*\.$/.test(help);

  expect(own.length).toBeGreaterThan(15);
  expect(own.filter((family) => !isWellNamed(family))).toEqual([]);
});

test('no metric has a label that could hold a number, a name or an id', async () => {
  const metrics = new Metrics({ version: '0.0.0' });
  metrics.start();
  const text = await metrics.render();
  metrics.stop();
  const labels = [...text.matchAll(/[{,](\w+)="/g)].map(([, label = '']) => label);

  const forbidden =
    /^(from|to|number|call|call_id|agent|agent_id|account|account_id|url|path|name)$/;
  expect([...new Set(labels)].filter((label) => forbidden.test(label))).toEqual([]);
});

test('the alert file has a description for every alert', () => {
  const text = readFileSync(join(FOLDER, 'alerts.yml'), 'utf8');
  const count = (pattern: RegExp) => text.match(pattern)?.length;

  expect(count(/- alert:/g)).toBeGreaterThan(12);
  expect(count(/description:/g)).toBe(count(/- alert:/g));
});

/** Whether the server can take calls, and with what. */
import type { Engine, Readiness } from '../api-types.ts';
import { client, language, t } from '../app-state.ts';
import { Page, Section, Shown, State, Table } from '../parts/page.tsx';
import { SelfTestSection } from '../parts/self-test.tsx';
import { limitationOf, remedyOf } from '../parts/stand-ins.tsx';
import { useLoad } from '../parts/use-load.ts';
import { wordOf } from '../text/text.ts';

export function SystemPage() {
  const loaded = useLoad(
    (signal) => client.api<Readiness>('readyz', { signal, alsoGood: 503 }),
    [],
  );
  const version = useLoad(() => client.state(), []);
  return (
    <Page
      title={t('system.title')}
      actions={
        <button type="button" onClick={loaded.reload}>
          {t('system.look')}
        </button>
      }
    >
      <Shown loaded={loaded}>
        {(report) => (
          <>
            <p class="live-line">
              <State of={report.status} /> Offhook {version.value?.version ?? ''}
            </p>
            <Engines engines={report.engines} />
            <States
              title={t('system.carriers')}
              states={report.carriers.map((one) => ({
                ...one,
                health: one.isReady ? 'ready' : 'not_ready',
              }))}
            />
            <States
              title={t('system.checks')}
              states={report.checks.map((one) => ({
                ...one,
                health: one.isOk ? 'passed' : 'failed',
              }))}
            />
          </>
        )}
      </Shown>
      <SelfTestSection />
    </Page>
  );
}

function Engines({ engines }: { readonly engines: Readiness['engines'] }) {
  const heads = [t('system.job'), t('system.engine'), t('system.health'), t('system.details')];
  const standIns = engines.filter(({ standIn }) => standIn !== null);
  return (
    <Section title={t('system.engines')}>
      {standIns.length === 0 ? null : (
        <p class="warning">
          {t('system.standIns', { count: standIns.length, all: engines.length })}
        </p>
      )}
      <Table label={t('system.engines')} heads={heads}>
        {engines.map((one) => (
          <tr key={one.job}>
            <td>{wordOf(language.value, 'job', one.job)}</td>
            <td>{one.engine}</td>
            <td>
              <State of={one.standIn !== null && one.state !== 'failed' ? 'stand_in' : one.state} />
            </td>
            <td>
              <EngineDetails of={one} />
            </td>
          </tr>
        ))}
      </Table>
    </Section>
  );
}

/** What callers notice and what to do about it first; the reason below. */
function EngineDetails({ of: engine }: { readonly of: Engine }) {
  const { replacement, reason } = engine;
  const limitation = limitationOf(engine);
  return (
    <>
      {limitation === '' ? null : <p class="engine-details">{limitation}.</p>}
      {replacement === null ? null : (
        <p class="engine-details">
          {t('system.replacement', { engine: replacement.engine, how: remedyOf(engine) })}
        </p>
      )}
      <p class="engine-details muted small">{reason}</p>
    </>
  );
}

function States(props: {
  readonly title: string;
  readonly states: readonly {
    readonly name: string;
    readonly health: string;
    readonly state: string;
  }[];
}) {
  const heads = [t('system.name'), t('system.health'), t('system.state')];
  return (
    <Section title={props.title}>
      {props.states.length === 0 ? (
        <p class="empty">{t('system.noneOf')}</p>
      ) : (
        <Table label={props.title} heads={heads}>
          {props.states.map(({ name, health, state }) => (
            <tr key={name}>
              <td>{name}</td>
              <td>
                <State of={health} />
              </td>
              <td>{state}</td>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  );
}

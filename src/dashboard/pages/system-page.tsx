/** Whether the server can take calls, and with what. */
import type { Readiness } from '../api-types.ts';
import { client, t } from '../app-state.ts';
import { Page, Section, Shown, State, Table } from '../parts/page.tsx';
import { useLoad } from '../parts/use-load.ts';

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
              states={report.carriers.map((one) => ({ ...one, isGood: one.isReady }))}
            />
            <States
              title={t('system.checks')}
              states={report.checks.map((one) => ({ ...one, isGood: one.isOk }))}
            />
          </>
        )}
      </Shown>
    </Page>
  );
}

function Engines({ engines }: { readonly engines: Readiness['engines'] }) {
  const heads = [t('system.job'), t('system.engine'), t('system.why')];
  return (
    <Section title={t('system.engines')}>
      <Table label={t('system.engines')} heads={heads}>
        {engines.map(({ job, engine, reason, isFallback }) => (
          <tr key={job}>
            <td>{job}</td>
            <td>
              {engine} {isFallback ? <State of="fallback" /> : null}
            </td>
            <td>{reason}</td>
          </tr>
        ))}
      </Table>
    </Section>
  );
}

function States(props: {
  readonly title: string;
  readonly states: readonly {
    readonly name: string;
    readonly isGood: boolean;
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
          {props.states.map(({ name, isGood, state }) => (
            <tr key={name}>
              <td>{name}</td>
              <td>
                <State of={isGood ? 'ready' : 'not_ready'} />
              </td>
              <td>{state}</td>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  );
}

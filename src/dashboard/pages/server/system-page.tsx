/** Whether the server can take calls, and with what. */
import type { Engine } from '../../api-types.ts';
import { client, t, word } from '../../app-state.ts';
import { Button, Page, Section, Shown, State, Table } from '../../parts/page.tsx';
import { SelfTestSection } from '../../parts/self-test.tsx';
import { limitationOf, remedyOf, useReadiness } from '../../parts/stand-ins.tsx';
import { useLoad } from '../../parts/use-load.ts';

export function SystemPage() {
  const loaded = useReadiness();
  const version = useLoad(['state'], () => client.state());
  return (
    <Page
      title={t('nav.system')}
      actions={<Button text={t('system.look')} onClick={loaded.reload} />}
    >
      <Shown loaded={loaded}>
        {({ status, engines, carriers, checks }) => (
          <>
            <p class="live-line">
              <State of={status} /> Offhook {version.value?.version ?? ''}
            </p>
            <Engines engines={engines} />
            <States
              title={t('system.carriers')}
              states={carriers.map((one) => ({
                ...one,
                health: one.isReady ? 'ready' : 'not_ready',
              }))}
            />
            <States
              title={t('system.checks')}
              states={checks.map((one) => ({ ...one, health: one.isOk ? 'passed' : 'failed' }))}
            />
          </>
        )}
      </Shown>
      <SelfTestSection />
    </Page>
  );
}

function Engines({ engines }: { readonly engines: readonly Engine[] }) {
  const count = engines.filter(({ standIn }) => standIn !== null).length;
  return (
    <Section title={t('system.engines')}>
      {count > 0 && <p class="box busy">{t('system.standIns', { count, all: engines.length })}</p>}
      <Table
        label={t('system.engines')}
        rows={engines}
        columns={{
          job: ({ job }) => word('job', job),
          engine: ({ engine }) => engine,
          health: ({ standIn, state }) => (
            <State of={standIn !== null && state !== 'failed' ? 'stand_in' : state} />
          ),
          details: (one) => <EngineDetails of={one} />,
        }}
      />
    </Section>
  );
}

/** What callers notice and what to do about it first; the reason below. */
function EngineDetails({ of: engine }: { readonly of: Engine }) {
  const { replacement, reason } = engine;
  const limitation = limitationOf(engine);
  return (
    <>
      {limitation !== '' && <p class="engine-details">{limitation}.</p>}
      {replacement !== null && (
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
  return (
    <Section title={props.title}>
      <Table
        label={props.title}
        empty={t('system.noneOf')}
        rows={props.states}
        columns={{
          name: ({ name }) => name,
          health: ({ health }) => <State of={health} />,
          report: ({ state }) => state,
        }}
      />
    </Section>
  );
}

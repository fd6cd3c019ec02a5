/** Whether the server can take calls, with its engines, carriers and checks. */
import { client, sentence, t } from '../../app-state.ts';
import { EngineTable, SelfTestSection, useReadiness } from '../../parts/engines.tsx';
import { Button, Page, Section, Shown, State, Table } from '../../parts/page.tsx';
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
            <EngineTable title={t('system.engines')} engines={engines} />
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
          name: ({ name }) => sentence(name),
          health: ({ health }) => <State of={health} />,
          report: ({ state }) => sentence(state),
        }}
      />
    </Section>
  );
}

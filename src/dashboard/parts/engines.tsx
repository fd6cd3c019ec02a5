/** The engines: which does which job now and what would do it better, and the self-test of the installed models. */
import type { Engine } from '../api-types.ts';
import { client, sentence, t, word } from '../app-state.ts';
import { useSubmit } from './form.tsx';
import { Button, Problem, Section, Shown, State, Table } from './page.tsx';
import { limitationOf, remedyOf } from './stand-ins.tsx';
import { useLoad } from './use-load.ts';

/** A section with each engine's state. */
export function EngineTable(props: {
  readonly title: string;
  readonly engines: readonly Engine[];
}) {
  const { title, engines } = props;
  const count = engines.filter(({ standIn }) => standIn !== null).length;
  return (
    <Section title={title}>
      {count > 0 && <p class="box busy">{t('system.standIns', { count, all: engines.length })}</p>}
      <Table
        label={title}
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
          {t('system.replacement', { engine: sentence(replacement.engine), how: remedyOf(engine) })}
        </p>
      )}
      <p class="engine-details muted small">{sentence(reason)}</p>
    </>
  );
}

const LOOK_AGAIN_MS = 2000;

export function SelfTestSection() {
  const loaded = useLoad(['self-test'], () => client.selfTest(), {
    refreshMs: LOOK_AGAIN_MS,
    isLast: ({ state }) => state !== 'running',
  });
  const { reload, value } = loaded;
  const isRunning = value?.state === 'running';
  const { isBusy, error, submit } = useSubmit(async () => {
    await client.startSelfTest();
    reload();
  });
  return (
    <Section
      title={t('selfTest.title')}
      actions={
        <Button
          needs="admin"
          text={t('selfTest.start')}
          onClick={submit}
          disabled={isBusy || isRunning}
        />
      }
    >
      <Problem error={error} />
      <Shown loaded={loaded}>
        {({ state, report }) => (
          <>
            <p class="muted" role="status">
              {t(`selfTest.${state}`)}
            </p>
            {report !== null && (
              <pre class="report" lang="en">
                {report}
              </pre>
            )}
          </>
        )}
      </Shown>
    </Section>
  );
}

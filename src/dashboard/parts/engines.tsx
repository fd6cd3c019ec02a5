/** The engines: the engine of each job, effects of stand-ins on callers, better engines, and the self-test. */
import type { Engine, Readiness, SelfTest } from '../api-types.ts';
import { client, sentence, t, word } from '../app-state.ts';
import { useSubmit } from './form.tsx';
import { Button, Problem, Section, Shown, State, Table } from './page.tsx';
import { type Loaded, useLoad } from './use-load.ts';

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

/** Limitation of an engine and its remedy first; the reason below. */
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
  const loaded = useLoad(['self-test'], () => client.read<SelfTest>('dashboard/self-test'), {
    refreshMs: LOOK_AGAIN_MS,
    isLast: ({ state }) => state !== 'running',
  });
  const { reload, value } = loaded;
  const isRunning = value?.state === 'running';
  const { isBusy, error, submit } = useSubmit(async () => {
    await client.operator('dashboard/self-test', {});
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

/** In the order in which a call meets them. */
export const ENGINE_JOBS: readonly Engine['job'][] = ['llm', 'stt', 'vad', 'turn', 'tts'];

export function useReadiness(): Loaded<Readiness> {
  return useLoad(['readyz'], (signal) =>
    client.api<Readiness>('readyz', { signal, alsoGood: 503 }),
  );
}

/** A warning if a stand-in does one of the jobs; empty otherwise, and while that is not known. */
export function StandIns({ jobs }: { readonly jobs: readonly Engine['job'][] }) {
  const { value } = useReadiness();
  const standIns = jobs.flatMap(
    (job) => value?.engines.filter((one) => one.job === job && one.standIn !== null) ?? [],
  );
  if (standIns.length === 0) return null;
  const remedies = new Set(standIns.map(remedyOf));
  return (
    <section class="box busy stand-ins" aria-label={t('standIns.title')}>
      <p>{t('standIns.title')}</p>
      <ul>
        {standIns.map((engine) => (
          <li key={engine.job}>
            {word('job', engine.job)}: {limitationOf(engine)}.
          </li>
        ))}
      </ul>
      {[...remedies].map((remedy) => (
        <p key={remedy}>{remedy}.</p>
      ))}
    </section>
  );
}

/** Limitation by a stand-in that callers notice, without a full stop; empty where an engine is none. */
function limitationOf({ job, standIn, limitation }: Engine): string {
  if (standIn === null) return '';
  const name = standIn === 'second_choice' ? standIn : `${job}.${standIn}`;
  const text = word('limitation', name);
  return text === name ? sentence(limitation ?? '') : text;
}

/** Remedy for a stand-in, without a full stop; the name of the setting for an operator who chose it. */
function remedyOf({ job, replacement }: Engine): string {
  if (replacement === null) return t('standIns.chosen', { setting: job.toUpperCase() });
  const { how } = replacement;
  const text = word('how', how);
  return text === how ? sentence(how) : text;
}

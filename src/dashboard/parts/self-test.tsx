/** The self-test of the installed models: its button, and the report to attach to an issue. */
import { useEffect } from 'preact/hooks';
import { client, t } from '../app-state.ts';
import { Problem, Section, Shown } from './page.tsx';
import { useLoad, useSubmit } from './use-load.ts';

const LOOK_AGAIN_MS = 2000;

export function SelfTestSection() {
  const loaded = useLoad(() => client.selfTest(), []);
  const { reload, value } = loaded;
  const isRunning = value?.state === 'running';
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(reload, LOOK_AGAIN_MS);
    return () => clearInterval(timer);
  }, [isRunning, reload]);
  const { isBusy, error, submit } = useSubmit(async () => {
    await client.startSelfTest();
    reload();
  });
  return (
    <Section
      title={t('selfTest.title')}
      actions={
        <button type="button" onClick={() => submit()} disabled={isBusy || isRunning}>
          {t('selfTest.start')}
        </button>
      }
    >
      {error === undefined ? null : <Problem error={error} />}
      <Shown loaded={loaded}>
        {({ state, report }) => (
          <>
            <p class="muted" role="status">
              {t(`selfTest.${state}`)}
            </p>
            {report === null ? null : <pre class="report">{report}</pre>}
          </>
        )}
      </Shown>
    </Section>
  );
}

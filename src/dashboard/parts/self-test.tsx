/** The self-test of the installed models: its button, and the report to attach to an issue. */
import { useEffect } from 'preact/hooks';
import { client, t } from '../app-state.ts';
import { useSubmit } from './form.tsx';
import { Button, Problem, Section, Shown } from './page.tsx';
import { useLoad } from './use-load.ts';

const LOOK_AGAIN_MS = 2000;

export function SelfTestSection() {
  const loaded = useLoad(['self-test'], () => client.selfTest());
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

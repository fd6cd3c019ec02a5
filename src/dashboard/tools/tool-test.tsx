/** Makes the request of a tool once, with arguments of the reader's choice, and shows what a model would be told. */
import { useState } from 'preact/hooks';
import type { HttpTool, ToolTrial } from '../api-types.ts';
import { client, formats, sentence, t } from '../app-state.ts';
import { TextField } from '../parts/field.tsx';
import { useSubmit } from '../parts/form.tsx';
import { Problem, Section } from '../parts/page.tsx';
import { AddressHelp } from './address-help.tsx';
import { jsonFault } from './json-fault.ts';
import { sampleArguments } from './tool-draft.ts';

export function ToolTest(props: {
  readonly tool: HttpTool;
  /** Whether the form next to it differs from what is tested. */
  readonly isChanged: boolean;
}) {
  const { tool, isChanged } = props;
  const [given, setGiven] = useState(() =>
    JSON.stringify(sampleArguments(JSON.stringify(tool.parameters)), null, 2),
  );
  const [trial, setTrial] = useState<ToolTrial | undefined>(undefined);
  const fault = jsonFault(given);
  const { isBusy, error, submit } = useSubmit(async () => {
    setTrial(undefined);
    if (fault !== undefined) throw new Error(t('tool.notJson', fault));
    const body = { arguments: JSON.parse(given) };
    setTrial(await client.api(`api/tools/${tool.name}/test`, { method: 'POST', body }));
  });
  return (
    <aside class="pane-test" aria-label={t('tool.test')}>
      <Section title={t('tool.test')}>
        {isChanged && <p class="box busy small">{t('try.unsaved')}</p>}
        <p class="hint">{t('tool.testHint')}</p>
        <form onSubmit={submit} class="code">
          <TextField
            label={t('tool.arguments')}
            rows={5}
            value={given}
            error={fault && t('tool.notJson', fault)}
            onValue={setGiven}
          />
          <div class="actions">
            <button type="submit" class="main" disabled={isBusy}>
              {t('tool.run')}
            </button>
            {isBusy && <span role="status">{t('tool.running')}</span>}
          </div>
        </form>
        <Problem error={error} />
        {trial !== undefined && <Outcome trial={trial} />}
      </Section>
    </aside>
  );
}

function Outcome({ trial }: { readonly trial: ToolTrial }) {
  const { done, result, problem, tookMs } = trial;
  const took = { ms: formats.value.count(tookMs) };
  return (
    <div class="outcome" role="status">
      <p>
        <span class={`state ${done ? 'good' : 'bad'}`}>
          {t(done ? 'tool.worked' : 'tool.failed', took)}
        </span>
      </p>
      {problem !== null && <p class="wrong">{sentence(problem)}</p>}
      <AddressHelp error={problem} />
      <h3>{t('tool.told')}</h3>
      <pre class="report">{result}</pre>
    </div>
  );
}

/** What is different between two versions of an agent, with every word that went and came. */
import { differencesOf } from '../agent-difference.ts';
import type { AgentContent } from '../agent-types.ts';
import { language, t } from '../app-state.ts';
import { wordOf } from '../text/text.ts';
import { textDiff } from '../text-diff.ts';

export function Differences(props: {
  readonly before: AgentContent;
  readonly after: AgentContent;
}) {
  const words = {
    yes: t('versions.yes'),
    no: t('versions.no'),
    none: '–',
    toolOf: (tool: string) => wordOf(language.value, 'tool', tool),
  };
  const differences = differencesOf(props.before, props.after, words);
  if (differences.length === 0) return <p class="empty">{t('versions.same')}</p>;
  return (
    <dl class="differences">
      {differences.map(({ field, before, after }) => (
        <div key={field}>
          <dt>{t(`agent.${field}`)}</dt>
          <dd>
            <Compared before={before} after={after} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Signs say what colours show. */
function Compared(props: { readonly before: string; readonly after: string }) {
  return (
    <>
      {textDiff(props.before, props.after).map(({ kind, text }, index) => {
        const key = `${index} ${kind}`;
        if (kind === 'gone') return <del key={key}>{text}</del>;
        if (kind === 'new') return <ins key={key}>{text}</ins>;
        return <span key={key}>{text}</span>;
      })}
    </>
  );
}

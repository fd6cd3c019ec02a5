/** The choice of what a new agent begins with. */
import { useState } from 'preact/hooks';
import { language, t } from '../app-state.ts';
import { Dialog, Question } from '../parts/dialog.tsx';
import { type AgentDraft, NEW_AGENT } from './agent-draft.ts';
import { isAsTemplate, TEMPLATES, type TemplateName, templatePart } from './templates.ts';

export function TemplatePicker(props: {
  readonly draft: AgentDraft;
  readonly onChosen: (part: Partial<AgentDraft>) => void;
}) {
  const { draft, onChosen } = props;
  const [asked, setAsked] = useState<TemplateName | undefined>(undefined);
  const spoken = language.value;
  const current = TEMPLATES.find((name) => isAsTemplate(draft, name, spoken));
  const isEmpty =
    draft.greeting === NEW_AGENT.greeting && draft.systemPrompt === NEW_AGENT.systemPrompt;
  const choose = (name: TemplateName) => {
    setAsked(undefined);
    onChosen(templatePart(name, spoken));
  };
  return (
    <fieldset class="templates">
      <legend>{t('template.title')}</legend>
      <div class="templates-choices">
        {TEMPLATES.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === current}
            onClick={() => (isEmpty || current !== undefined ? choose(name) : setAsked(name))}
          >
            <strong>{t(`template.${name}`)}</strong>
            <span class="small">{t(`template.${name}Hint`)}</span>
          </button>
        ))}
      </div>
      {asked !== undefined && (
        <Dialog title={t(`template.${asked}`)} onClose={() => setAsked(undefined)}>
          <Question
            text={t('template.question')}
            yes={t('template.use')}
            class="danger"
            onNo={() => setAsked(undefined)}
            onYes={() => choose(asked)}
          />
        </Dialog>
      )}
    </fieldset>
  );
}

/** The settings of an agent: template, texts, voice, tools, handling of the call and work after it. */

import { useState } from 'preact/hooks';
import { messageUnder } from '../api-error.ts';
import type { Agent } from '../api-types.ts';
import { language, t } from '../app-state.ts';
import { BroughtBack } from '../forms/kept-form.tsx';
import { Dialog, Question } from '../parts/dialog.tsx';
import { CheckField, SelectField, TextField, wordOptions } from '../parts/field.tsx';
import type { TextKey } from '../text/text.ts';
import { type AgentDraft, type FormParts, NEW_AGENT } from './agent-draft.ts';
import {
  ModelField,
  NameField,
  PromptField,
  Pronunciations,
  ToolsField,
  TransferTargets,
} from './agent-fields.tsx';
import { isAsTemplate, TEMPLATES, type TemplateName, templatePart } from './templates.ts';
import type { AgentFormState } from './use-agent-form.ts';
import { SaveBar } from './versions.tsx';
import { VoicePicker } from './voice-picker.tsx';

/** @param props.agent undefined where one is created. */
export function AgentForm(props: {
  readonly agent: Agent | undefined;
  readonly form: AgentFormState;
}) {
  const { agent, form } = props;
  return (
    <form class="card agent-form" onSubmit={form.submit} noValidate>
      <BroughtBack form={form} text={t('agent.broughtBack')} />
      {agent === undefined && <TemplatePicker draft={form.draft} onChosen={form.change} />}
      <Words {...form} />
      <Abilities {...form} />
      <Handling {...form} />
      <Afterwards {...form} />
      <SaveBar agent={agent} form={form} />
    </form>
  );
}

/** Fields of the draft whose label is `agent.<name>`. */
type LabelledName = keyof {
  [Name in keyof AgentDraft as `agent.${Name}` extends TextKey ? Name : never]: 1;
};

/** The props of a field that follow from its name. */
function fieldOf<Name extends LabelledName>(
  name: Name,
  { draft, change, wrong }: FormParts,
  path: string = name,
) {
  return {
    label: t(`agent.${name}`),
    value: draft[name],
    onValue: (value: AgentDraft[Name]) => change({ [name]: value }),
    error: messageUnder(wrong, path),
  };
}

function Words(form: FormParts) {
  const { draft, change, wrong } = form;
  return (
    <>
      <TextField {...fieldOf('name', form)} isRequired />
      <TextField {...fieldOf('greeting', form)} rows={2} isRequired />
      <PromptField {...fieldOf('systemPrompt', form)} />
      <h2>{t('agent.sectionVoice')}</h2>
      <div class="pair">
        <VoicePicker
          value={draft.voice}
          language={draft.language}
          error={messageUnder(wrong, 'voice')}
          onVoice={({ id, locale }) =>
            // A voice whose language is undetermined speaks the agent's.
            change({ voice: id, ...(locale !== 'und' && { language: locale }) })
          }
        />
        <TextField {...fieldOf('language', form)} hint={t('agent.languageHint')} />
      </div>
      <TextField {...fieldOf('phoneNumber', form)} type="tel" hint={t('agent.phoneHint')} />
      <Pronunciations {...form} />
    </>
  );
}

/** Settings of tools, calendar, messages and transfers. */
function Abilities(form: FormParts) {
  const { draft, change } = form;
  return (
    <>
      <h2>{t('agent.sectionTools')}</h2>
      <ToolsField {...fieldOf('tools', form)} />
      <div class="pair">
        <NameField
          {...fieldOf('calendar', form)}
          path="api/calendars"
          none={t('agent.noCalendar')}
        />
        <NameField
          {...fieldOf('smsGateway', form)}
          path="api/sms-gateways"
          none={t('agent.onlyGateway')}
        />
      </div>
      <TransferTargets {...form} />
      <CheckField
        label={t('agent.transferAcceptance')}
        isChecked={draft.transferAcceptance}
        onChecked={(transferAcceptance) => change({ transferAcceptance })}
      />
      <CheckField
        label={t('agent.afterTransfer')}
        isChecked={draft.doesReturn}
        onChecked={(doesReturn) => change({ doesReturn })}
      />
    </>
  );
}

function Handling(form: FormParts) {
  const { draft, change } = form;
  return (
    <>
      <h2>{t('agent.sectionHandling')}</h2>
      <div class="pair">
        <TextField
          {...fieldOf('maxDurationSeconds', form, 'settings.maxDurationSeconds')}
          type="number"
        />
        <TextField
          {...fieldOf('silenceTimeoutSeconds', form, 'settings.silenceTimeoutSeconds')}
          type="number"
        />
      </div>
      <CheckField
        label={t('agent.interruptible')}
        isChecked={draft.isInterruptible}
        onChecked={(isInterruptible) => change({ isInterruptible })}
      />
      <SelectField
        {...fieldOf('responsiveness', form)}
        options={wordOptions('responsiveness', ['fast', 'balanced', 'patient'])}
      />
      <ModelField {...fieldOf('model', form)} />
      <VoicemailFields {...form} />
    </>
  );
}

/** Settings for outgoing calls that an answering machine takes. */
function VoicemailFields(form: FormParts) {
  return (
    <>
      <SelectField
        {...fieldOf('voicemailAction', form, 'settings.voicemail.action')}
        options={wordOptions('voicemail', ['continue', 'hang_up', 'leave_message'])}
      />
      {form.draft.voicemailAction === 'leave_message' && (
        <TextField {...fieldOf('voicemailMessage', form, 'settings.voicemail.message')} rows={2} />
      )}
    </>
  );
}

/** Settings of the analysis after a call: success criteria, and fields to extract. */
function Afterwards(form: FormParts) {
  return (
    <>
      <h2>{t('agent.sectionAfter')}</h2>
      <TextField
        {...fieldOf('successCriteria', form)}
        rows={2}
        hint={t('agent.successCriteriaHint')}
      />
      <TextField {...fieldOf('extract', form)} rows={4} hint={t('agent.extractHint')} />
    </>
  );
}

function TemplatePicker(props: {
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

/** Buttons that begin a call: talk to an agent, simulate a caller, place a call; their windows are loaded when they open. */
import type { ComponentChildren, ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import type { AgentItem } from '../api-types.ts';
import { client, complain, environment, isPlacingCall, say, t } from '../app-state.ts';
import type { TalkDialogProps } from '../phone/talk-dialog.tsx';
import { DialogButton } from './dialog.tsx';
import { SelectField, wordOptions } from './field.tsx';
import { Form, useForm } from './form.tsx';
import { Button } from './page.tsx';

type Callee = Pick<AgentItem, 'id' | 'name'> & {
  /** Whether the agent answers with its draft; otherwise with its live settings. */
  readonly isDraft?: boolean;
};

export function TalkButton(props: {
  readonly agent: Callee;
  /** Called with each call that is answered. */
  readonly onCall?: (callId: string) => void;
}) {
  const { agent, onCall } = props;
  const { talk, phone } = useTalk(onCall);
  return (
    <>
      <Button needs="editor" text={t('phone.talkToIt')} onClick={() => talk(agent)} />
      {phone}
    </>
  );
}

/** One phone for several agents: `phone` is its window, to be put where no table or form is around it. */
export function useTalk(onCall?: (callId: string) => void): {
  readonly talk: (agent: Callee) => void;
  readonly phone: ComponentChildren;
} {
  const [callee, setCallee] = useState<Callee | undefined>(undefined);
  const [Dialog, setDialog] = useState<ComponentType<TalkDialogProps> | undefined>(undefined);
  const talk = (agent: Callee) => {
    import('../phone/talk-dialog.tsx').then(
      ({ TalkDialog }) => {
        setDialog(() => TalkDialog);
        setCallee(agent);
      },
      () => complain(new Error(t('phone.notLoaded'))),
    );
  };
  const phone =
    Dialog === undefined || callee === undefined ? null : (
      <Dialog
        agentId={callee.id}
        agentName={callee.name}
        isDraft={callee.isDraft ?? false}
        onClose={() => setCallee(undefined)}
        onCall={onCall}
      />
    );
  return { talk, phone };
}

/** Parties that ring in. */
const SCENARIOS = ['friendly', 'appointment', 'transfer', 'hangup', 'silent', 'no_answer', 'error'];

export function SimulateButton({ agents }: { readonly agents: readonly AgentItem[] }) {
  if (environment.value !== 'test' || agents.length === 0) return null;
  return (
    <DialogButton label={t('simulate.title')} class="main" needs="editor">
      {(close) => <SimulateForm agents={agents} onClose={close} />}
    </DialogButton>
  );
}

function SimulateForm(props: {
  readonly agents: readonly AgentItem[];
  readonly onClose: () => void;
}) {
  const { agents, onClose } = props;
  const begun = { agentId: agents[0]?.id ?? '', scenario: 'friendly' };
  const form = useForm(begun, async (body) => {
    await client.api('api/sandbox/calls/inbound', { method: 'POST', body });
    say(t('simulate.begun'));
    onClose();
  });
  return (
    <Form form={form} label={t('simulate.call')} onCancel={onClose}>
      <SelectField
        {...form.field('agentId', 'field.agent')}
        options={agents.map(({ id, name }) => [id, name])}
      />
      <SelectField
        {...form.field('scenario', 'simulate.scenario')}
        options={wordOptions('scenario', SCENARIOS)}
      />
    </Form>
  );
}

export function PlaceCallButton() {
  return (
    <Button
      needs="editor"
      text={t('placeCall.title')}
      onClick={() => (isPlacingCall.value = true)}
    />
  );
}

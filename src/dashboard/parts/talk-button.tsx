/** Opens the phone to an agent; what it is made of is loaded only now. */
import type { ComponentChildren, ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import { complain, t } from '../app-state.ts';
import type { TalkDialogProps } from '../phone/talk-dialog-props.ts';

interface Callee {
  readonly id: string;
  readonly name: string;
}

export function TalkButton({ agent }: { readonly agent: Callee }) {
  const { talk, phone } = useTalk();
  return (
    <>
      <button type="button" onClick={() => talk(agent)}>
        {t('phone.talkToIt')}
      </button>
      {phone}
    </>
  );
}

/** One phone for several agents: `phone` is its window, to be put where no table or form is around it. */
export function useTalk(): {
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
      <Dialog agentId={callee.id} agentName={callee.name} onClose={() => setCallee(undefined)} />
    );
  return { talk, phone };
}

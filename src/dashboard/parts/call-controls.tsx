/** What an operator can do to a call that goes on. */
import { HangUp } from './hang-up.tsx';
import { ListenIn } from './listen-in.tsx';
import { Transfer } from './transfer.tsx';

/** @param props.isAnswered a call that rings has no sound yet, and nobody to hand over. */
export function CallControls(props: { readonly callId: string; readonly isAnswered: boolean }) {
  const { callId, isAnswered } = props;
  return (
    <>
      {isAnswered ? <ListenIn callId={callId} /> : null}
      {isAnswered ? <Transfer callId={callId} /> : null}
      <HangUp callId={callId} />
    </>
  );
}

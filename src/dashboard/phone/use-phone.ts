/** The phone as the window of the page holds it, from when it opens to when it goes. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { type BrowserPhone, browserPhone } from './browser-phone.ts';
import { AT_REST, isBusy, type PhoneState } from './phone-state.ts';

export function usePhone(agentId: string): {
  readonly phone: BrowserPhone;
  readonly state: PhoneState;
} {
  const [state, setState] = useState(AT_REST);
  const phone = useMemo(() => browserPhone(agentId, new Audio(), setState), [agentId]);
  useEffect(() => () => phone.hangUp(), [phone]);
  const busy = isBusy(state);
  useEffect(() => {
    if (!busy) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [busy]);
  return { phone, state };
}

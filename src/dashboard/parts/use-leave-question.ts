/** The browser asks before a tab with unsaved changes is closed; other pages of the dashboard keep them. */
import { useEffect } from 'preact/hooks';

export function useLeaveQuestion(isChanged: boolean): void {
  useEffect(() => {
    if (!isChanged) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isChanged]);
}

/** The button that opens the window to place a call. */
import { isPlacingCall, t } from '../app-state.ts';
import { Button } from '../parts/page.tsx';

export function PlaceCallButton() {
  return (
    <Button
      needs="editor"
      text={t('placeCall.title')}
      onClick={() => (isPlacingCall.value = true)}
    />
  );
}

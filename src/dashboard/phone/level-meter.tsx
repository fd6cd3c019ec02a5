/** Shows how loud the microphone is. */
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../app-state.ts';
import { fallen, fillOf } from '../level-meter.ts';

/** So often the eye sees it move, and no more work than that is done. */
const LOOK_MS = 50;

/** @param props.levelDbfs asked again and again; undefined while no microphone is open. */
export function LevelMeter(props: { readonly levelDbfs: () => number | undefined }) {
  const meter = useRef<HTMLMeterElement>(null);
  const { levelDbfs } = props;
  useEffect(() => {
    let shown = 0;
    const timer = setInterval(() => {
      const dbfs = levelDbfs();
      shown = dbfs === undefined ? 0 : fallen(shown, fillOf(dbfs), LOOK_MS);
      if (meter.current !== null) meter.current.value = shown;
    }, LOOK_MS);
    return () => clearInterval(timer);
  }, [levelDbfs]);
  return <meter ref={meter} class="level" min={0} max={1} aria-label={t('phone.level')} />;
}

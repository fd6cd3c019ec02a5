/** What stands in the way of a call: what it is, and what to do about it. */
import { t } from '../app-state.ts';
import type { PhoneProblem } from './phone-problem.ts';

export function PhoneTrouble({ problem }: { readonly problem: PhoneProblem }) {
  const { kind, detail = '' } = problem;
  return (
    <div class="problem" role="alert">
      <p>
        <strong>{t(`phone.why.${kind}`)}</strong>
      </p>
      <p>{t(`phone.do.${kind}`)}</p>
      {detail === '' ? null : <p class="small">{detail}</p>}
    </div>
  );
}

/** The telephone network of the whole server, but no call is recorded: what a recording costs is the difference. */
import { Telephony } from '../../src/compose/telephony.ts';

export class UnrecordedTelephony extends Telephony {
  override start(...[onIncoming, dialogs]: Parameters<Telephony['start']>): Promise<void> {
    return super.start((incoming) => {
      const answer = incoming.answer.bind(incoming);
      incoming.answer = async (options) => {
        const leg = await answer(options);
        leg.record = () => undefined;
        return leg;
      };
      onIncoming(incoming);
    }, dialogs);
  }
}

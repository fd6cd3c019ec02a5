/** The sound of the example telephone, whose calls end at any time. */
import { expect, test } from 'vitest';
import { PhoneLine } from '../../examples/phone/phone-line.ts';

test('PhoneLine that is closed does not wait for what is still to be said on it', async () => {
  const line = new PhoneLine();
  await line.open('127.0.0.1');
  line.close();

  const spoken = line.speak(new Int16Array(160));
  const late = new Promise((resolve) => setTimeout(resolve, 1000, 'it waits'));

  expect(await Promise.race([spoken, late])).toMatchObject({ lastVoicedAtMs: 0 });
});

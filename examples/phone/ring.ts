/**
 * Rings a SIP address, speaks a WAV file, listens for five seconds more, and writes down what it heard.
 *
 *     node examples/phone/ring.ts sip:+390612345678@127.0.0.1:5060 hello.wav heard.wav
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Phone } from './phone.ts';
import { readWav, writeWav } from './wav.ts';

const LISTEN_MS = 5000;

const [uri, wavToSpeak, wavToWrite] = process.argv.slice(2);
if (uri === undefined) {
  console.error('Usage: node examples/phone/ring.ts sip:number@host:port [speak.wav] [heard.wav]');
  process.exit(64);
}

const phone = new Phone();
await phone.start();
const call = await phone.call(uri).catch((error: Error) => {
  console.error(error.message);
  process.exit(1);
});
console.log('answered');
if (wavToSpeak !== undefined) await call.line.speak(readWav(wavToSpeak));
await Promise.race([wait(LISTEN_MS), call.ended]);
await call.hangUp();
await phone.stop();

const { heard } = call.line;
console.log(
  `heard ${heard.length} packets, ${heard.filter(({ isVoiced }) => isVoiced).length} of them loud`,
);
if (wavToWrite !== undefined)
  writeWav(wavToWrite, Int16Array.from(heard.flatMap(({ pcm }) => [...pcm])));

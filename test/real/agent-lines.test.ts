/** Sounds without speech, and the agent's echo, on lines through a real drachtio-server and a real FreeSWITCH. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  expectEchoHidesNoCaller,
  expectEchoIsNoCaller,
  expectNoiseIsNoSpeech,
} from '../support/speech/agent-lines.contract.ts';
import { type AgentLines, openTelephoneLines } from '../support/speech/agent-lines.ts';
import { LINE_ECHOES } from '../support/speech/echo-calls.ts';
import { noiseCallSounds } from '../support/speech/non-speech.ts';
import { findPrograms, startRealWorld } from './real-processes.ts';

const TIMES = { timeout: 300_000 };

const programs = findPrograms('sounds and echoes through FreeSWITCH');

describe.skipIf(programs === undefined)('lines through FreeSWITCH', () => {
  let lines: AgentLines;
  let stop: () => Promise<void> = async () => undefined;

  beforeAll(async () => {
    if (programs === undefined) return;
    const world = await startRealWorld(programs);
    const environment = { ...world.environment, SIP_PORT: String(world.sipPort) };
    const opened = await openTelephoneLines({ ...environment, MEDIA: 'freeswitch' });
    stop = async () => {
      await opened.stop();
      await world.stop();
    };
    lines = {
      ...opened,
      callAgent: async (agent) => {
        const call = await opened.callAgent(agent);
        await expect.poll(() => world.channels()).toBeGreaterThanOrEqual(2);
        return call;
      },
    };
  });
  afterAll(() => stop());

  test(
    'the sounds of lines, rooms, streets and music are no turns, and do not stop the agent',
    TIMES,
    async () => {
      await expectNoiseIsNoSpeech(lines, noiseCallSounds());
    },
  );

  test(
    'an echo after 40 to 250 ms, 15 to 30 dB below the agent, neither stops it nor speaks to it',
    TIMES,
    async () => {
      await expectEchoIsNoCaller(lines, LINE_ECHOES);
    },
  );

  test('a caller on a line with an echo can interrupt the agent', TIMES, async () => {
    await expectEchoHidesNoCaller(lines);
  });
});

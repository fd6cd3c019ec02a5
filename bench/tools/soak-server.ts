/**
 * The server as `npm start` runs it, settings by the environment, which tells its memory when it is asked: `memory-answers.ts`.
 * It runs until its input ends.
 */
import { answerMemoryQuestions } from '../lib/memory-answers.ts';

answerMemoryQuestions({
  onEnd: () => {
    // The first lets calls end, the second does not wait for them.
    process.kill(process.pid, 'SIGTERM');
    process.kill(process.pid, 'SIGTERM');
  },
});
await import('../../src/main.ts');

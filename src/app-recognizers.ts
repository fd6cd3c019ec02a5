/** Composition root: the engines that recognise speech, best first. */
import { moonshineEngine } from './speech/moonshine/moonshine-engine.ts';
import { transformersEngine } from './speech/transformers/transformers-engine.ts';
import { whisperEngine } from './speech/whisper/whisper-engine.ts';

export const sttEngines = [whisperEngine, moonshineEngine, transformersEngine] as const;

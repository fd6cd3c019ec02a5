/** A stretch of a callee's voice after the answer, told from fainter voices around the callee by its level; pure */

/** Pauses up to this are part of a talk: machines breathe. */
const TALK_GAP_MS = 600;

/** The same between loud sounds: the soft ends of words are part of such a pause. */
const LOUD_GAP_MS = 800;

/**
 * A voice this much below the callee's loudest sound, 12 dB in power, is someone else's: a television, people in the room. One
 * talker's voice goes as low only for moments.
 */
const FAINT_POWER_RATIO = 16;

/** A voice that ends this soon after its last loud sound ends softly. */
const SOFT_END_MS = 500;

/** A stretch of the callee's voice, short pauses included. Instants are `Clock.nowMs()`. */
export interface Talk {
  readonly fromMs: number;
  readonly lastVoicedAtMs: number;
  /** Whether the detector hears a voice. */
  readonly isVoiced: boolean;
  /** Whether the newest voice is too faint to be the callee's. */
  readonly isFaint: boolean;
  /** Power of the newest sound, voice or not, and of the loudest voice; 0 while unknown. */
  readonly newestPower: number;
  readonly loudestPower: number;
}

/** A voice begins: it goes on with the talk after a short pause, or begins a new one. */
export function beginVoice(talk: Talk | null, atMs: number): Talk {
  const [newestPower, loudestPower] = [talk?.newestPower ?? 0, talk?.loudestPower ?? 0];
  const begun = { isVoiced: true, newestPower, loudestPower };
  if (talk !== null && isFaintTo(loudestPower, newestPower)) {
    return { ...talk, ...begun, isFaint: true };
  }
  const fromMs = talk === null || isNewTalk(talk, atMs) ? atMs : talk.fromMs;
  return { ...begun, fromMs, lastVoicedAtMs: atMs, isFaint: false };
}

/** The detector hears no voice any more, or finds that there was none since `lastVoicedAtMs`, which makes no talk longer. */
export function endVoice(talk: Talk, lastVoicedAtMs: number): Talk {
  if (!talk.isVoiced) {
    return { ...talk, lastVoicedAtMs: Math.min(talk.lastVoicedAtMs, lastVoicedAtMs) };
  }
  const isOthers = talk.isFaint && lastVoicedAtMs > talk.lastVoicedAtMs + SOFT_END_MS;
  const lastMs = isOthers ? talk.lastVoicedAtMs : lastVoicedAtMs;
  return { ...talk, lastVoicedAtMs: lastMs, isVoiced: false, isFaint: isOthers };
}

/**
 * Takes the level of the newest sound. A voice that is far louder than those before it begins the talk.
 *
 * @param sound about 100 ms; `power` is the mean of its squared samples.
 */
export function hearSound(
  talk: Talk,
  sound: { readonly fromMs: number; readonly atMs: number; readonly power: number },
): Talk {
  const { fromMs, atMs, power } = sound;
  const { loudestPower } = talk;
  if (!talk.isVoiced) return { ...talk, newestPower: power };
  if (isFaintTo(loudestPower, power)) return { ...talk, newestPower: power, isFaint: true };
  const isFirst = loudestPower > 0 && isFaintTo(power, loudestPower);
  const isNew = isFirst || (talk.isFaint && isNewTalk(talk, fromMs));
  return {
    fromMs: isNew ? fromMs : talk.fromMs,
    lastVoicedAtMs: atMs,
    isVoiced: true,
    isFaint: false,
    newestPower: power,
    loudestPower: Math.max(loudestPower, power),
  };
}

/** Whether the callee speaks now. */
export function isSpeaking({ isVoiced, isFaint }: Talk): boolean {
  return isVoiced && !isFaint;
}

/** Length of the talk so far, in milliseconds. */
export function lengthOf(talk: Talk, nowMs: number): number {
  return (isSpeaking(talk) ? nowMs : talk.lastVoicedAtMs) - talk.fromMs;
}

function isFaintTo(loudPower: number, power: number): boolean {
  return power * FAINT_POWER_RATIO < loudPower;
}

function isNewTalk({ isFaint, lastVoicedAtMs }: Talk, atMs: number): boolean {
  return atMs - lastVoicedAtMs > (isFaint ? LOUD_GAP_MS : TALK_GAP_MS);
}

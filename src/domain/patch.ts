/** What changes of all resources have in common: fields that may be left out, and times that tell changes apart; pure */
import { ServiceError } from './service-error.ts';

/** Fields that are there have a value. */
export type Given<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

/** The fields that are not undefined. */
export function given<Fields extends object>(fields: Fields): Given<Fields> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Given<Fields>;
}

/** Two changes within a millisecond still have different times, so that customers see each. */
export function laterThan(before: Date, now: Date): Date {
  return new Date(Math.max(now.getTime(), before.getTime() + 1));
}

/** @param what is to be changed, such as `the agent`. */
export function emptyPatch(what: string): ServiceError {
  const message = 'expected at least one field';
  return new ServiceError('VALIDATION_ERROR', `Cannot change ${what}: the body is empty`, [
    { path: '', message },
  ]);
}

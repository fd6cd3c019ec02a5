/** Refuses what a user's role may not do: one table, asked for every route of the dashboard and of the REST interface. */
import { roleNeededFor } from '../../domain/account/role-table.ts';
import { mayActAs, type User } from '../../domain/account/user.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { ApiContext } from '../api-env.ts';
import { routesOf } from './matched-route.ts';

/**
 * Checks a user against every route that the request matched. A request that matched none is answered with 404 elsewhere.
 *
 * @throws {ServiceError} FORBIDDEN naming the role that is needed.
 */
export function checkRole(context: ApiContext, { role }: Pick<User, 'role'>): void {
  for (const route of routesOf(context)) {
    const needed = roleNeededFor(route);
    if (needed === 'anyone' || mayActAs(role, needed)) continue;
    throw new ServiceError(
      'FORBIDDEN',
      `Cannot do this as "${role}": it needs the role "${needed}"; an admin can give it to you`,
    );
  }
}

/** Whether the request may come without a session. */
export function isForAnyone(context: ApiContext): boolean {
  return routesOf(context).every((route) => roleNeededFor(route) === 'anyone');
}
